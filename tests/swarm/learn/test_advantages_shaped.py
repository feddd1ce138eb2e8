"""The group's mean as a scale (MaxRL), overlong penalties (DAPO) and whitened advantages (PPO)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scored_groups import credited_trees, episode, group

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.advantages import (
    STD_EPSILON,
    episode_advantages,
    overlong_penalties,
    token_returns_advantages,
)
from swarm.learn.credit import advantages, keep_groups
from swarm.learn.scored import scored_tree

MAXRL = AlgorithmSettings(name="maxrl")


class TestGroupMean:
    def test_by_hand(self) -> None:
        (found,) = episode_advantages([[1.0, 0.0, 0.0, None, 0.0]], MAXRL)
        assert found == [pytest.approx(3.0), -1.0, -1.0, None, -1.0]

    @pytest.mark.parametrize("rewards", [[0.0, 0.0], [0.0], [-1.0, 0.5], [1e-9, 0.0]])
    def test_a_group_without_success_has_no_signal(self, rewards: list[float]) -> None:
        """A mean that is not above 0 must neither divide nor turn the sign."""
        assert episode_advantages([rewards], MAXRL) == [[0.0] * len(rewards)]

    @given(wins=st.integers(1, 7))
    def test_the_successes_of_a_prompt_weigh_one_in_all(self, wins: int) -> None:
        """1/G sum of (r - m)/m over the successes is 1 - m: a prompt counts by 1/p, not by p."""
        (found,) = episode_advantages([[1.0] * wins + [0.0] * (8 - wins)], MAXRL)
        assert sum(a for a in found if a and a > 0) / 8 == pytest.approx(1 - wins / 8)
        assert sum(a or 0.0 for a in found) == pytest.approx(0, abs=1e-9)


class TestOverlong:
    def test_by_hand(self) -> None:
        """A budget of 20 with a buffer of 4: free up to 16, all of it at 20 and beyond."""
        assert overlong_penalties([1, 16, 17, 18, 20, 25], 20, 4.0) == [0, 0, 0.25, 0.5, 1, 1]

    def test_it_enters_the_advantage_and_neither_the_filter_nor_an_unscored_episode(self) -> None:
        equal = group([2], episode([3] * 4, 1.0), episode([3] * 10, 1.0), episode([3] * 10, None))
        settings = AlgorithmSettings(overlong_buffer=0.2, overlong_factor=0.5)
        (found,) = advantages([scored_tree(equal)], settings, 10)
        assert found == [0.25, -0.25, None]
        assert keep_groups([equal], "resample") == []

    def test_a_buffer_of_zero_is_none(self) -> None:
        long = group([2], episode([3] * 4, 1.0), episode([3] * 10, 1.0))
        ((tree,),) = credited_trees([long], AlgorithmSettings(), 10, 1)
        assert all(not node.advantage.any() for node in tree.nodes)


class TestWhitenedAdvantages:
    def test_a_value_baseline_is_centred_where_it_is_scaled(self) -> None:
        flat = [np.array([1.0, 3.0], np.float32), None, np.array([5.0], np.float32)]
        found = token_returns_advantages(flat, AlgorithmSettings(name="ppo"))
        std = np.std([1, 3, 5], ddof=1) + STD_EPSILON
        assert found[0] == pytest.approx([-2 / std, 0.0])
        assert found[1] is None
        plain = token_returns_advantages(flat, AlgorithmSettings(name="ppo", scale="none"))
        assert plain[0] == pytest.approx([1.0, 3.0])
