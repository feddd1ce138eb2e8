"""Which claims a study has."""

from pathlib import Path

from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, make_study

from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


def test_ids_are_unique_and_runs_exist(facts: StudyFacts) -> None:
    found = compute(facts).claims
    runs = {f"{t.spec.id}/{a.number}" for t in facts.trials for a in t.attempts}
    assert len({claim.id for claim in found}) == len(found)
    assert {run for claim in found for run in claim.runs} <= runs
    assert all(claim.runs for claim in found if claim.kind == "outcome")


def test_a_study_without_scores_still_has_claims(tmp_path: Path) -> None:
    everything = tuple(
        ("confirm", arm, s) for arm in (CONTROL, TREATMENT) for s in range(7200, 7205)
    )
    facts = make_study(Home(tmp_path), Shape(failed=everything))
    claims = compute(facts).by_id()
    assert claims["H1.verdict"].value == "invalid"
    assert "H1.effect" not in claims
    assert claims["trials.all.failed"].value == 10
