"""Evaluating a model on held-out prompts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest
from support.scored_groups import episode, group
from support.tiny_runs import rows, small

from swarm.errors import BadAdapter
from swarm.records import Completion, Group, StopReason
from swarm.tasks import load
from swarm.train.eval_sets import Ready
from swarm.train.evaluate import Evaluation, _counted, evaluate
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")


def counted(groups: Sequence[Group]) -> Evaluation:
    """The evaluation of answers to held-out prompts."""
    config = small()
    task = load(config.task)
    return _counted([groups], [Ready("", task, task.evaluation(1))], config)


def test_counts_by_hand() -> None:
    found = counted(
        [
            group([2], episode([3, 4], 1.0)),
            group([2], episode([3], 0.5)),
            group([2], episode([3, 4, 5], None)),
        ]
    )
    assert (found.n, found.accuracy, found.reward) == (3, pytest.approx(1 / 3), 0.75)
    assert found.mean_length == 2
    assert found.truncated == 0
    wilson = binomtest(1, 3).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))


def test_what_was_not_asked_or_judged_is_no_wrong_answer() -> None:
    unjudged = replace(episode([3, 4], None), correct=None)
    completion = Completion((), (), StopReason.OVERLONG)
    unasked = replace(unjudged, completion=completion)
    groups = [group([2], e) for e in (episode([3], 1.0), unjudged, unasked)]
    some, nothing = counted(groups), counted(groups[1:])
    assert (some.n, some.prompts, some.overlong, some.accuracy) == (1, 3, 1, 1.0)
    assert (some.answers, some.unjudged) == (3, 1)
    assert (some.mean_length, some.truncated) == (1.5, 0.0)
    assert [alarm.kind for alarm in some.alarms] == ["prompts-overlong"]
    assert (nothing.n, nothing.prompts) == (0, 2)
    assert all(map(math.isnan, (nothing.accuracy, nothing.low, nothing.high, nothing.reward)))
    assert {alarm.kind for alarm in nothing.alarms} == {"prompts-overlong", "nothing-scored"}


def test_a_model_that_gives_no_probabilities_is_named() -> None:
    broken = episode([3], 1.0)
    broken = replace(broken, completion=replace(broken.completion, logprobs=(math.nan,)))
    (alarm,) = counted([group([2], broken)]).alarms
    assert (alarm.kind, alarm.step) == ("non-finite", 0)
    assert "the weights of tiny are damaged" in alarm.cause


def test_it_measures_what_training_measured(tmp_path: Path) -> None:
    config = small(steps=3)
    train(config, tmp_path)
    logged = [row for row in rows(tmp_path) if "eval/acc" in row]
    before, after = evaluate(config), evaluate(config, tmp_path)
    assert (before.accuracy, after.accuracy) == (logged[0]["eval/acc"], logged[-1]["eval/acc"])
    assert after.n == config.evaluation.prompts
    assert before.low <= before.accuracy <= before.high


def test_greedy_answers_are_the_same_each_time_and_other_than_sampled_ones() -> None:
    config = small(evaluation__prompts=64)
    greedy = evaluate(config, greedy=True)
    assert evaluate(config, greedy=True) == greedy
    assert evaluate(config) != greedy


def test_a_folder_without_an_adapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadAdapter, match="holds no adapter_config"):
        evaluate(small(), tmp_path)
