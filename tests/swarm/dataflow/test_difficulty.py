"""The difficulty sampler asks where rewards differ."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scored_groups import episode, group

from swarm import tasks
from swarm.config.parts import DataSettings, TaskSettings
from swarm.config.train import TrainConfig
from swarm.dataflow.difficulty import EXPLORE, KEEP, SignalByLevel
from swarm.dataflow.prompts import batch_problems
from swarm.records import Group

LEVELS = (4, 5, 6, 7)


def asked(level: int, *rewards: float | None) -> Group:
    return replace(group((1,), *(episode((2,), reward) for reward in rewards)), level=level)


def seen(*groups: Group) -> SignalByLevel:
    signal = SignalByLevel()
    signal.observe(groups)
    return signal


class TestChances:
    def test_nothing_seen_is_uniform(self) -> None:
        assert SignalByLevel().chances(LEVELS) == [0.25] * 4

    def test_no_signal_anywhere_is_uniform(self) -> None:
        assert seen(*(asked(n, 1, 1) for n in LEVELS)).chances(LEVELS) == [0.25] * 4

    def test_in_proportion_to_the_variance_with_a_share_for_all(self) -> None:
        signal = seen(asked(4, 1, 1), asked(5, 0, 1), asked(6, 0, 0.5), asked(7, 0, 0))
        base = EXPLORE / 4
        rest = 1 - EXPLORE
        expected = [base, base + rest * 0.8, base + rest * 0.2, base]
        assert signal.chances(LEVELS) == pytest.approx(expected)

    def test_a_level_not_seen_counts_as_the_best(self) -> None:
        four, five, six = seen(asked(4, 0, 1), asked(5, 1, 1)).chances((4, 5, 6))
        assert six == four > five

    def test_unscored_and_lone_episodes_say_nothing(self) -> None:
        assert seen(asked(4, 0, None), asked(5, None, None)).chances((4, 5)) == [0.5, 0.5]

    @given(st.lists(st.tuples(st.sampled_from(LEVELS), st.floats(0, 1), st.floats(0, 1))))
    def test_a_law_that_leaves_no_level_out(self, batch: list[tuple[int, float, float]]) -> None:
        chances = seen(*(asked(level, a, b) for level, a, b in batch)).chances(LEVELS)
        assert sum(chances) == pytest.approx(1)
        assert min(chances) >= EXPLORE / 4 - 1e-12


def test_what_was_seen_long_ago_fades() -> None:
    signal = seen(asked(4, 0, 1))
    for _ in range(30):
        signal.observe([asked(4, 1, 1)])
    assert signal.sums[4] == pytest.approx(0.25 * KEEP**30)
    assert signal.sums[4] / signal.counts[4] < 0.002


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), max_size=20))
def test_json_keeps_it_exactly(batch: list[tuple[int, float]]) -> None:
    signal = seen(*(asked(level, 0, reward) for level, reward in batch))
    assert SignalByLevel.from_json(json.loads(json.dumps(signal.to_json()))) == signal


class TestPrompts:
    task = tasks.load(TaskSettings(args={"min": 4, "max": 7}))

    def levels(self, signal: SignalByLevel) -> Counter[int]:
        data = DataSettings(order="by_signal")
        problems = batch_problems(
            self.task, data, seed=0, step=0, steps=9, count=256, signal=signal
        )
        assert {problem.split for problem in problems} == {"train"}
        return Counter(problem.level for problem in problems)

    def test_the_level_with_signal_is_asked_most(self) -> None:
        signal = seen(asked(4, 1, 1), asked(5, 0, 1), asked(6, 0, 0), asked(7, 0, 0))
        counts = self.levels(signal)
        assert counts[5] > 0.85 * 256
        assert set(counts) == set(LEVELS)

    def test_every_level_is_asked_alike_at_first(self) -> None:
        counts = self.levels(SignalByLevel())
        assert all(abs(counts[level] - 64) < 30 for level in LEVELS)


class TestRefusals:
    @pytest.mark.parametrize(
        "values",
        [
            {"batch.group_size": 1, "algorithm.name": "reinforce_pp"},
            {"algorithm.name": "sft"},
        ],
    )
    def test_there_must_be_groups_of_rollouts(self, values: dict[str, str | int]) -> None:
        with pytest.raises(ValueError, match=r"data\.order 'by_signal' needs"):
            TrainConfig().with_values({"data.order": "by_signal", **values})
