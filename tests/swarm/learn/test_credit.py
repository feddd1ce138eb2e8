"""From scored groups to weighted trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scored_groups import credited_trees, episode, group, random_groups

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.credit import keep_groups, reward_range
from swarm.learn.scored import scored_tree
from swarm.records import Group, TokenTree

DEFAULT = AlgorithmSettings()
MAX_TOKENS = 10


def advantages(tree: TokenTree) -> list[list[float]]:
    """Per action node, its tokens' advantages."""
    return [node.advantage.tolist() for node in tree.nodes[1:]]


def weights(tree: TokenTree) -> list[list[float]]:
    return [node.weight.tolist() for node in tree.nodes[1:]]


class TestKeptGroups:
    MIXED = group([2], episode([3], 1.0), episode([4], 0.0))
    EQUAL = group([2], episode([3], 0.5), episode([4], 0.5))
    HALF_SCORED = group([2], episode([3], 1.0), episode([4], None))
    UNSCORED = group([2], episode([3], None), episode([4], None))
    ALL = (MIXED, EQUAL, HALF_SCORED, UNSCORED)

    def test_without_a_filter_only_the_unscored_go(self) -> None:
        assert keep_groups(self.ALL, "none") == [self.MIXED, self.EQUAL, self.HALF_SCORED]

    def test_mixed_rewards_drops_what_has_no_spread(self) -> None:
        assert keep_groups(self.ALL, "mixed_rewards") == [self.MIXED]

    def test_the_range_ignores_what_was_not_scored(self) -> None:
        assert [reward_range(g) for g in self.ALL] == [1.0, 0.0, 0.0, 0.0]


class TestTrees:
    GROUP = group(
        [2, 3], episode([4, 5, 6], 1.0, version=7), episode([7], None), episode([8, 9], 0.0)
    )

    def test_one_node_a_scored_episode_below_the_prompt(self) -> None:
        ((tree,),) = credited_trees([self.GROUP], DEFAULT, MAX_TOKENS, 1)
        assert [node.tokens.tolist() for node in tree.nodes] == [[2, 3], [4, 5, 6], [8, 9]]
        assert [node.parent for node in tree.nodes] == [None, 0, 0]
        assert tree.trained_tokens == 5
        assert not tree.nodes[0].mask.any()

    def test_the_samplers_numbers_travel_with_the_tokens(self) -> None:
        ((tree,),) = credited_trees([self.GROUP], DEFAULT, MAX_TOKENS, 1)
        sampled = self.GROUP.episodes[0].completion.logprobs
        np.testing.assert_allclose(tree.nodes[1].logprobs, sampled, rtol=1e-6)
        assert tree.nodes[1].version == 7

    def test_each_token_carries_its_episodes_advantage_and_weight(self) -> None:
        ((tree,),) = credited_trees([self.GROUP], DEFAULT, MAX_TOKENS, 1)
        assert advantages(tree) == [[0.5] * 3, [-0.5] * 2]
        assert weights(tree) == [pytest.approx([0.2] * 3), pytest.approx([0.2] * 2)]

    def test_scored_trees_train_everything_scored_alike(self) -> None:
        tree = scored_tree(self.GROUP).tree
        assert advantages(tree) == weights(tree) == [[1.0] * 3, [1.0] * 2]


class TestMinibatches:
    @given(seed=st.integers(0, 99), minibatches=st.integers(1, 6))
    def test_they_cut_the_groups_in_order(self, seed: int, minibatches: int) -> None:
        groups = random_groups(seed, groups=4)
        batches = credited_trees(groups, DEFAULT, MAX_TOKENS, minibatches)
        assert len(batches) == min(minibatches, 4)
        prompts = [tuple(t.nodes[0].tokens.tolist()) for trees in batches for t in trees]
        assert prompts == [g.prompt for g in groups]

    @pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean"])
    def test_weights_are_means_over_each_update(self, aggregation: str) -> None:
        settings = AlgorithmSettings(aggregation=aggregation)
        for trees in credited_trees(random_groups(0), settings, MAX_TOKENS, 2):
            total = sum(sum(w) for tree in trees for w in weights(tree))
            assert total == pytest.approx(1, rel=1e-6)

    def test_advantages_are_over_the_whole_batch(self) -> None:
        settings = AlgorithmSettings(baseline="batch", scale="batch_std")
        groups = random_groups(0)
        whole = credited_trees(groups, settings, MAX_TOKENS, 1)[0]
        halves = [t for trees in credited_trees(groups, settings, MAX_TOKENS, 2) for t in trees]
        assert [advantages(t) for t in halves] == [advantages(t) for t in whole]


class TestKlInTheReward:
    """`k1` is log(pi/ref) of each trained token."""

    GROUP = group([2], episode([3, 4], 1.0), episode([5], None), episode([6, 7, 8], 0.5))
    K1 = np.array([0.5, 0.25, -1.0, 2.0, 1.0], np.float32)

    def trees(self, **settings: object) -> TokenTree:
        algorithm = AlgorithmSettings(kl_coef=0.1, kl_placement="reward", **settings)
        ((tree,),) = credited_trees([self.GROUP], algorithm, MAX_TOKENS, 1, [self.K1])
        return tree

    def test_a_group_baseline_sees_the_penalised_rewards(self) -> None:
        a, b = 1.0 - 0.1 * 0.75, 0.5 - 0.1 * 2.0
        first, second = advantages(self.trees(baseline="group"))
        assert first == pytest.approx([(a - b) / 2] * 2)
        assert second == pytest.approx([(b - a) / 2] * 3)

    def test_leave_one_out_sees_them_too(self) -> None:
        a, b = 1.0 - 0.1 * 0.75, 0.5 - 0.1 * 2.0
        first, second = advantages(self.trees(baseline="leave_one_out"))
        assert first == pytest.approx([a - b] * 2)
        assert second == pytest.approx([b - a] * 3)

    def test_without_a_group_baseline_each_token_has_its_return_to_go(self) -> None:
        """The penalty on its own token, the reward on the last; no discount."""
        first, second = advantages(self.trees(baseline="none", returns="token"))
        assert first == pytest.approx([1 - 0.075, 1 - 0.025])
        assert second == pytest.approx([0.5 - 0.2, 0.5 - 0.3, 0.5 - 0.1])

    def test_without_a_penalty_every_token_returns_the_whole_reward(self) -> None:
        """verl reset the return at observations and credited the last turn alone (#7278)."""
        algorithm = AlgorithmSettings(kl_coef=0.1, baseline="none", returns="token")
        zeros = np.zeros_like(self.K1)
        ((tree,),) = credited_trees([self.GROUP], algorithm, MAX_TOKENS, 1, [zeros])
        assert advantages(tree) == [[1.0] * 2, [0.5] * 3]

    def test_reinforce_pp_whitens_the_returns_over_the_batch(self) -> None:
        returns = np.array([0.925, 0.975, 0.3, 0.2, 0.4])
        expected = (returns - returns.mean()) / (returns.std(ddof=1) + 1e-4)
        tree = self.trees(baseline="batch", scale="batch_std", returns="token")
        first, second = advantages(tree)
        assert first + second == pytest.approx(list(expected), rel=1e-5)

    def test_a_large_reward_does_not_drown_the_penalties(self) -> None:
        """In fp32 the spacing at 4096 is 4.9e-4: of penalties of 1e-4 whitening would see noise."""
        same = group([2, 3], episode([4, 5], 4096.0), episode([6, 7, 8], 4096.0))
        algorithm = AlgorithmSettings(
            name="reinforce_pp", kl_coef=1e-4, clip_low=None, clip_high=None
        )
        ((tree,),) = credited_trees([same], algorithm, MAX_TOKENS, 1, [self.K1])
        penalties = -1e-4 * np.array([0.75, 0.25, 2.0, 3.0, 1.0])
        expected = (penalties - penalties.mean()) / (penalties.std(ddof=1) + 1e-4)
        first, second = advantages(tree)
        assert first + second == pytest.approx(list(expected), rel=1e-5)

    def test_the_callers_array_is_left_alone(self) -> None:
        before = self.K1.copy()
        self.trees(baseline="none", returns="token")
        assert np.array_equal(self.K1, before)


@given(seed=st.integers(0, 99), baseline=st.sampled_from(["group", "leave_one_out", "batch"]))
def test_a_filtered_group_leaves_no_trace(seed: int, baseline: str) -> None:
    """In no denominator and no baseline, wherever it stood."""
    settings = AlgorithmSettings(baseline=baseline)
    groups = random_groups(seed)
    dull = group([2, 3], *(episode([4] * 5, 0.5) for _ in range(4)))

    def credited(asked: list[Group]) -> list[TokenTree]:
        kept = keep_groups(asked, "mixed_rewards")
        return credited_trees(kept, settings, MAX_TOKENS, 1)[0] if kept else []

    before, after = credited(groups), credited([dull, *groups, dull])
    assert [advantages(t) for t in after] == [advantages(t) for t in before]
    assert [weights(t) for t in after] == [weights(t) for t in before]
