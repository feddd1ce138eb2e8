"""What moves over a run is judged on the run's own scale, whatever its rewards are."""

import math
from collections.abc import Callable

import pytest
from support.run_rows import STEPS, run

from swarm.config.train import TrainConfig
from swarm.train.alarms import alarms

CONFIG = TrainConfig()
SCALES = {"0 and 1": (0.0, 1.0), "-1 and 0": (-1.0, 0.0), "0 and 0.5": (0.0, 0.5), "big": (-3, 900)}
Shape = Callable[[int], float]


def rewards(share: Shape, lowest: float, highest: float) -> dict[str, Shape]:
    """The metrics of two-valued rewards of which `share` are the highest."""

    def ends(step: int, end: float, other: float, certain: float) -> float:
        return other if share(step) == certain else end

    return {
        "reward__mean": lambda s: lowest + share(s) * (highest - lowest),
        "reward__std": lambda s: (highest - lowest) * math.sqrt(share(s) * (1 - share(s))),
        "reward__min": lambda s: ends(s, lowest, highest, 1.0),
        "reward__max": lambda s: ends(s, highest, lowest, 0.0),
    }


def kinds(rows: list[dict], config: TrainConfig = CONFIG) -> list[str]:
    return [alarm.kind for alarm in alarms(rows, config, ended=True)]


def learning(step: int) -> float:
    return min(1.0, 0.2 + step / 10)


def certain(step: int) -> float:
    return 1.0 if step < 12 else 0.01


@pytest.mark.parametrize("scale", SCALES)
def test_a_solved_task_raises_nothing_on_any_scale(scale: str) -> None:
    """Certain, far from where it began and equal in its rewards: all that is as it should be."""
    solved = rewards(learning, *SCALES[scale])
    far = {"policy__entropy": certain, "policy__kl_ref": lambda s: 0.1 * s}
    assert kinds(run(**solved, **far)) == []


@pytest.mark.parametrize("scale", SCALES)
def test_what_stops_below_its_best_is_told_on_any_scale(scale: str) -> None:
    stuck = rewards(lambda s: 0.4, *SCALES[scale])
    assert kinds(run(**stuck, policy__entropy=certain)) == ["entropy-collapse"]
    assert kinds(run(**stuck, policy__kl_ref=lambda s: 0.2 * s)) == ["kl-blow-up"]


@pytest.mark.parametrize("scale", SCALES)
def test_what_loses_all_it_had_is_told_on_any_scale(scale: str) -> None:
    lost = rewards(lambda s: max(0.0, 0.4 - s / 20), *SCALES[scale])
    (kind,) = kinds(run(**lost))
    assert kind == ("reward-flat-at-zero" if SCALES[scale][0] == 0 else "reward-constant")


@pytest.mark.parametrize("accuracy", [0.95, 0.3])
def test_held_out_answers_tell_where_any_was_right(accuracy: float) -> None:
    """All rollouts earn the most they ever did; that it is right, or is not, is known."""
    paid = rewards(lambda s: min(1.0, 0.5 + s / 10), 0.0, 0.1)
    rows = run(**paid, policy__entropy=certain, eval__acc=lambda s: accuracy if s else 0.4)
    assert kinds(rows) == ([] if accuracy > 0.9 else ["reward-constant", "entropy-collapse"])


def test_a_run_that_earns_the_same_from_first_to_last_says_so() -> None:
    for value in (-1.0, 0.5, 1.0):
        same = run(reward__mean=lambda s, v=value: v, reward__std=lambda s: 0.0)
        assert kinds(same) == ["reward-constant"]
    solved = run(reward__mean=lambda s: 0.0, reward__std=lambda s: 0.0, eval__acc=lambda s: 1.0)
    (alarm,) = alarms(solved, CONFIG, ended=True)
    assert (alarm.kind, "solves the task as it is" in alarm.cause) == ("reward-constant", True)


def test_rewards_that_cancel_out_are_not_flat() -> None:
    assert kinds(run(reward__mean=lambda s: 0.0, reward__std=lambda s: 1.0)) == []


def test_one_batch_may_settle_a_window() -> None:
    """Row 0 is an evaluation; the first batch is row 1."""
    rows = [{"step": 0, "metrics": {"eval/acc": 0.3}}, *run()[1:]]
    rows[1]["metrics"]["policy/ratio_max"] = 513.0
    for length in (2, 4, STEPS):
        (alarm,) = alarms(rows[:length], CONFIG)
        assert (alarm.kind, alarm.step, alarm.value) == ("ratio-blow-up", 1, 513.0)
    rows[1]["metrics"]["policy/ratio_max"] = 20.0
    assert alarms(rows, CONFIG) == []
    assert kinds(rows[:2]) == ["ratio-blow-up"]  # all that this run had


@pytest.mark.parametrize("spike", range(1, STEPS))
def test_a_window_begins_anywhere(spike: int) -> None:
    rows = run(policy__ratio_max=lambda s: 513.0 if s == spike else 1.0)
    assert [(a.kind, a.step) for a in alarms(rows, CONFIG)] == [("ratio-blow-up", spike)]


def test_the_cause_of_a_large_ratio_depends_on_what_came_before() -> None:
    rows = run(policy__ratio_max=lambda s: 49.0)
    twice = CONFIG.with_values({"batch.minibatches": 2})
    assert "before any update" in alarms(rows, CONFIG)[0].cause
    assert "within a batch" in alarms(rows, twice)[0].cause


def test_the_first_batch_tells_a_mismatch_from_staleness() -> None:
    stale = CONFIG.with_values({"max_staleness": 4})
    (at_once,) = alarms(run(mismatch__kl=lambda s: 0.06)[:1], stale)
    assert "same weights" in at_once.cause
    (later,) = alarms(run(mismatch__kl=lambda s: 0.2 if s else 0.0), stale)
    assert "4 versions old" in later.cause
    (fresh,) = alarms(run(mismatch__kl=lambda s: 0.2 if s else 0.0), CONFIG)
    assert "same weights" in fresh.cause


def test_imitation_is_meant_to_leave_its_start() -> None:
    far = run(policy__kl_ref=lambda s: 0.2 * s)
    assert kinds(far, CONFIG.with_values({"algorithm.name": "sft"})) == []
