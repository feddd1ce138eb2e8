import math
from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, make_study

from autoresearch.analysis.scores import by_candidate, by_seed, final_value, score, scores, series
from autoresearch.study.home import Home
from autoresearch.study.plan import TrialScore
from swarm.config.parts import EvalSettings
from swarm.config.train import TrainConfig
from swarm.disk.folder import RunWriter

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


def test_series_leaves_out_what_is_not_finite(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    for step, value in enumerate((1.0, math.nan, math.inf, 2.0)):
        writer.metrics(step, step * 1.5, {"x": value})
    assert series(tmp_path, "x") == [(0, 0.0, 1.0), (3, 4.5, 2.0)]


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
    found = {(s.arm, s.seed): s for s in scores(facts, "confirm")}
    assert (found[CONTROL, 7204].status, found[CONTROL, 7204].value) == ("failed", None)
    assert (found[TREATMENT, 7203].status, found[TREATMENT, 7203].value) == ("diverged", 0.0)
    assert found[CONTROL, 7200].value == pytest.approx(0.6, abs=0.06)
    assert len(found) == 10


def test_scores_cover_every_hypothesis_metric(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(length_hypothesis=True))
    metrics = [s.metric for s in scores(facts, "confirm")]
    assert metrics == ["eval/acc"] * 10 + ["completions/mean_length_wrong"] * 10
    assert {s.metric for s in scores(facts, "pilot", ["eval/acc"])} == {"eval/acc"}


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
