import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from synthetic_study import CONTROL, TREATMENT, Shape, make_study

from autoresearch.analysis.claims import Claim, ClaimSet, answer, compute
from autoresearch.analysis.evidence import EVALUATOR_CHANGED, Evidence, damage
from autoresearch.study.facts import StudyFacts
from autoresearch.study.paths import Home
from swarm.runfolder import METRICS


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    home = Home(tmp_path_factory.mktemp("claims"))
    return make_study(home, Shape(failed=(), length_hypothesis=True))


@pytest.fixture(scope="module")
def claims(facts: StudyFacts) -> dict[str, Claim]:
    return compute(facts).by_id()


def confirm_scores(facts: StudyFacts, arm: str) -> list[float]:
    """The registered score by hand: the mean of the last three evaluations."""
    found = []
    for trial in facts.of_phase("confirm"):
        if trial.spec.arm == arm:
            assert trial.folder is not None
            rows = map(json.loads, (trial.folder / METRICS).read_text().splitlines())
            values = [r["metrics"]["eval/acc"] for r in rows if "eval/acc" in r["metrics"]]
            found.append(float(np.mean(values[-3:])))
    return found


def test_every_claim_comes_out_of_its_query(facts: StudyFacts) -> None:
    evidence = Evidence(facts)
    for claim in compute(facts).claims:
        found = answer(evidence, claim.query)
        assert found is not None
        value = found.value
        assert claim.value == (pytest.approx(value) if isinstance(value, float) else value)
        assert (claim.n, claim.runs) == (found.n, found.runs)


def test_ids_are_unique_and_runs_exist(facts: StudyFacts) -> None:
    found = compute(facts).claims
    runs = {f"{t.spec.id}/{a.number}" for t in facts.trials for a in t.attempts}
    assert len({claim.id for claim in found}) == len(found)
    assert {run for claim in found for run in claim.runs} <= runs
    assert all(claim.runs for claim in found if claim.kind == "outcome")


def test_computing_again_gives_equal_bytes(facts: StudyFacts) -> None:
    text = compute(facts).to_json()
    assert compute(facts).to_json() == text
    again = ClaimSet.from_json(text)
    assert again.to_json() == text
    assert again == compute(facts)


def test_the_effect_is_welchs(facts: StudyFacts, claims: dict[str, Claim]) -> None:
    a, b = confirm_scores(facts, TREATMENT), confirm_scores(facts, CONTROL)
    test = stats.ttest_ind(a, b, equal_var=False)
    interval = test.confidence_interval(0.95)
    effect = claims["H1.effect"]
    assert effect.value == pytest.approx(np.mean(a) - np.mean(b))
    assert effect.interval == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert effect.n == 5
    assert len(effect.runs) == 10
    assert claims["H1.verdict"].value == "supported"
    assert claims["H1.direction"].value == "higher"
    assert claims["H2.direction"].value == "lower"


def test_arm_means_have_t_intervals(facts: StudyFacts, claims: dict[str, Claim]) -> None:
    values = confirm_scores(facts, CONTROL)
    mean = claims[f"arm.eval/acc.{CONTROL}.mean"]
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (mean.value, mean.n) == (pytest.approx(np.mean(values)), 5)
    assert mean.interval == (pytest.approx(low), pytest.approx(high))
    sd = claims[f"arm.eval/acc.{CONTROL}.sd"]
    assert sd.value == pytest.approx(np.std(values, ddof=1))


def test_the_detectable_effect_follows_from_the_pooled_sd(
    facts: StudyFacts, claims: dict[str, Claim]
) -> None:
    arms = [confirm_scores(facts, arm) for arm in (TREATMENT, CONTROL)]
    pooled = math.sqrt(sum(np.var(arm, ddof=1) for arm in arms) / 2)
    assert claims["H1.seed_sd"].value == pytest.approx(pooled)
    # Welch at five seeds, alpha .05 and power .8 detects about two standard deviations.
    assert 1.9 * pooled < float(claims["H1.detectable"].value) < 2.2 * pooled


def test_tuning_claims_name_candidates_and_the_choice(claims: dict[str, Claim]) -> None:
    values = [claims[f"tuning.candidate-{i}.value"].value for i in range(3)]
    assert values == [1e-3, 4e-4, 4e-3]
    assert claims["tuning.choice"].value == 1e-3
    assert claims["tuning.candidate-0.score"].n == 2


def test_accounts(facts: StudyFacts, claims: dict[str, Claim]) -> None:
    assert claims["trials.all"].value == len(facts.trials) == 19
    assert claims["trials.all.diverged"].value == 1
    assert claims["attempts.lost"].value == 1
    assert claims["attempts.retries"].value == 1
    seconds = [a.seconds for t in facts.trials for a in t.attempts]
    assert claims["cost.all.seconds"].value == pytest.approx(sum(seconds))
    assert claims["cost.all.seconds"].n == 20
    tokens = 800 * (60 * 18 + 33)
    assert claims["cost.tokens/trained"].value == tokens
    assert claims["study.seed"].value == 7


def test_time_outside_trials_is_what_no_attempt_covers(facts: StudyFacts) -> None:
    # Attempts start every 20 s from second 20 on and take 36 s or more: only the start is bare.
    claims = compute(facts).by_id()
    wall = float(claims["cost.wall_seconds"].value)
    assert claims["cost.outside"].value == pytest.approx(20 / wall)


def test_a_failed_trial_leaves_no_number(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=(("confirm", CONTROL, 7204),)))
    claims = compute(facts).by_id()
    assert f"score.eval/acc.{CONTROL}.reverse.7204" not in claims
    assert claims[f"arm.eval/acc.{CONTROL}.mean"].n == 4
    assert claims[f"curve.eval/acc.{CONTROL}.0"].n == 4
    trial = next(t for t in facts.trials if t.status == "failed")
    causes = claims[f"trial.{trial.spec.id}.causes"].value
    assert causes == ("attempt 1, 2, 3 failed: RuntimeError: the worker was killed (out of memory)")
    assert claims["H1.verdict"].value == "inconclusive"


def test_a_diverged_run_counts_with_the_floor(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=(), diverged=(("confirm", CONTROL, 7202),)))
    claims = compute(facts).by_id()
    assert claims[f"score.eval/acc.{CONTROL}.reverse.7202"].value == 0.0
    assert claims[f"arm.eval/acc.{CONTROL}.mean"].n == 5
    assert claims[f"curve.eval/acc.{CONTROL}.60"].n == 5
    others = [
        float(claim.value)
        for name, claim in claims.items()
        if name.startswith(f"score.eval/acc.{CONTROL}") and claim.value
    ]
    assert claims[f"arm.eval/acc.{CONTROL}.mean"].value == pytest.approx(sum(others) / 5)


def test_two_tasks_give_means_over_tasks(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=(), tasks=("reverse", "sort")))
    claims = compute(facts).by_id()
    by_task = [
        float(claims[f"task.eval/acc.{CONTROL}.{t}.mean"].value) for t in ("reverse", "sort")
    ]
    mean = claims[f"arm.eval/acc.{CONTROL}.mean"]
    assert mean.value == pytest.approx(sum(by_task) / 2)
    assert (mean.n, len(mean.runs)) == (5, 10)


def test_a_study_without_scores_still_has_claims(tmp_path: Path) -> None:
    everything = tuple(
        ("confirm", arm, s) for arm in (CONTROL, TREATMENT) for s in range(7200, 7205)
    )
    facts = make_study(Home(tmp_path), Shape(failed=everything))
    claims = compute(facts).by_id()
    assert claims["H1.verdict"].value == "invalid"
    assert "H1.effect" not in claims
    assert claims["trials.all.failed"].value == 10


def test_changed_evidence_makes_verdicts_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    trial = facts.of_phase("confirm")[2]
    assert trial.folder is not None
    metrics = trial.folder / METRICS
    metrics.write_text(metrics.read_text().replace('"eval/acc": 0.', '"eval/acc": 1.', 1))
    verdict = compute(facts).verdicts[0]
    assert verdict.verdict == "invalid"
    assert f"{trial.spec.id}/1" in verdict.reason
    assert "metrics.jsonl record 1" in verdict.reason


def test_a_sealed_run_must_be_the_one_that_the_ledger_knows(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    trial = facts.of_phase("confirm")[0]
    other = replace(trial.attempts[-1], manifest="0" * 64)
    assert damage(trial) == []
    problems = damage(replace(trial, attempts=(other,)))
    assert problems == [f"run {trial.spec.id}/1: manifest.json: not the one that the ledger knows"]


def test_another_plan_than_the_registered_one_is_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    assert facts.plan is not None
    moved = facts.plan.model_copy(update={"notes": ("changed afterwards",)})
    verdict = compute(replace(facts, plan=moved)).verdicts[0]
    assert verdict.verdict == "invalid"


def test_a_look_uses_its_own_seeds_only(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    early = replace(
        facts,
        records={**facts.records, "size": {"looks": [3, 5]}, "look-1": {"n": 3, "stop": True}},
    )
    claims = compute(early).by_id()
    assert claims["rule.look"].value == 3
    assert claims[f"arm.eval/acc.{CONTROL}.mean"].n == 3
    assert claims["seeds.confirm"].value == "7200, 7201, 7202"
    assert float(claims["rule.confidence"].value) > 0.95


def test_a_study_without_a_plan_has_no_claims(tmp_path: Path) -> None:
    facts = replace(make_study(Home(tmp_path), Shape(failed=())), plan=None)
    with pytest.raises(ValueError, match="no plan"):
        compute(facts)


def test_another_evaluator_than_at_the_freeze_is_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path))
    changed = {**facts.records, EVALUATOR_CHANGED: {"was": "a", "now": "b"}}
    verdict = compute(replace(facts, records=changed)).verdicts[0]
    assert verdict.verdict == "invalid"
    assert "judges answers changed" in verdict.reason
