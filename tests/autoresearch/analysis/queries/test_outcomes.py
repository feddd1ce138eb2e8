"""What came out, checked against scores counted by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, confirm_scores, make_study

from autoresearch.analysis.claims import Claim
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


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
