"""What a study's trials, attempts and runs are said to have been."""

from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, Shape, compute, make_study

from autoresearch.analysis.claims import Claim
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


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
