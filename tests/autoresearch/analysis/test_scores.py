from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, make_study

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import by_candidate, by_seed, final_value, score
from autoresearch.study.home import Home
from autoresearch.study.trial import TrialScore
from swarm.config.parts import EvalSettings
from swarm.config.train import TrainConfig

CONFIG = TrainConfig(steps=40, evaluation=EvalSettings(every=10))


def make_score(arm: str, seed: int, value: float | None, task: str = "a", label: str = ""):
    return TrialScore(
        trial=f"{arm}{seed}{task}",
        metric="eval/acc",
        phase="confirm",
        arm=arm,
        task=task,
        seed=seed,
        label=label,
        status="failed" if value is None else "finished",
        value=value,
    )


def test_an_eval_metric_scores_the_mean_of_its_last_evaluations() -> None:
    points = [(0, 0.0, 0.1), (10, 1.0, 0.2), (20, 2.0, 0.4), (30, 3.0, 0.5), (40, 4.0, 0.9)]
    assert final_value(points, "eval/acc", CONFIG, 3) == pytest.approx(0.6)
    assert final_value(points, "eval/acc", CONFIG, 1) == pytest.approx(0.9)


def test_a_step_metric_scores_the_steps_that_those_evaluations_span() -> None:
    points = [(step, 0.0, float(step)) for step in range(1, 41)]
    assert final_value(points, "completions/mean_length", CONFIG, 2) == pytest.approx(30.5)
    gaps = [p for p in points if p[0] not in (21, 40)]
    expected = sum(range(22, 40)) / 18
    assert final_value(gaps, "completions/mean_length", CONFIG, 2) == pytest.approx(expected)


def test_a_metric_without_values_has_no_score() -> None:
    assert final_value([], "eval/acc", CONFIG, 3) is None
    assert final_value([(1, 0.0, 5.0)], "completions/mean_length", CONFIG, 2) is None


def test_diverged_scores_the_floor_and_failed_nothing(tmp_path: Path) -> None:
    shape = Shape(
        failed=(("confirm", CONTROL, 7204),), diverged=(("confirm", TREATMENT, 7203),), lost=()
    )
    facts = make_study(Home(tmp_path), shape)
    found = {(s.arm, s.seed): s for s in Evidence(facts).scores("confirm", "eval/acc")}
    assert (found[CONTROL, 7204].status, found[CONTROL, 7204].value) == ("failed", None)
    assert (found[TREATMENT, 7203].status, found[TREATMENT, 7203].value) == ("diverged", 0.0)
    assert found[CONTROL, 7200].value == pytest.approx(0.6, abs=0.06)
    assert len(found) == 10


def test_the_score_of_a_trial_is_read_from_its_folder(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path))
    assert facts.plan is not None
    known = Evidence(facts).scores("confirm", "eval/acc")
    assert [score(trial, facts.plan) for trial in facts.of_phase("confirm")] == known


def test_a_running_trial_has_no_score(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path))
    assert facts.plan is not None
    from dataclasses import replace

    with pytest.raises(ValueError, match="has not ended"):
        score(replace(facts.trials[0], status="running"), facts.plan)


def test_a_seed_counts_when_every_task_is_scored() -> None:
    found = by_seed(
        [
            make_score("x", 1, 0.2, "a"),
            make_score("x", 1, 0.4, "b"),
            make_score("x", 2, 0.9, "a"),
            make_score("x", 3, 0.9, "a"),
            make_score("x", 3, None, "b"),
        ],
        ["a", "b"],
    )
    assert found == {"x": {1: pytest.approx(0.3)}}


def test_a_candidate_with_a_failed_trial_is_not_comparable() -> None:
    found = by_candidate(
        [
            make_score("x", 1, 0.2, label="low"),
            make_score("y", 1, 0.4, label="low"),
            make_score("x", 1, 0.9, label="high"),
            make_score("y", 1, None, label="high"),
        ]
    )
    assert found == {"low": pytest.approx(0.3), "high": None}
