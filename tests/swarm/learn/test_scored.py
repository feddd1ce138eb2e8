"""Credit on trees of any shape: baselines are per episode, and branches change no weight."""

import copy
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.preset_updates import gradients, recipe_on
from support.scored_groups import random_groups
from torch import nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.credit import advantages, credit
from swarm.learn.scored import ScoredTree, scored_tree
from swarm.records import Node, TokenTree, action_node, context_node

MAX_TOKENS = 8


class Builder:
    """A tree in the making; `say` adds trained tokens of an episode, `hear` an observation."""

    def __init__(self, prompt: Sequence[int]) -> None:
        self.nodes: list[Node] = [context_node(prompt)]
        self.owners: list[int | None] = [None]

    def say(self, episode: int, tokens: Sequence[int], parent: int) -> int:
        logprobs = [-2.0 - 0.1 * t for t in tokens]
        self.nodes.append(action_node(tokens, parent, logprobs=logprobs))
        self.owners.append(episode)
        return len(self.nodes) - 1

    def hear(self, tokens: Sequence[int], parent: int) -> int:
        self.nodes.append(context_node(tokens, parent))
        self.owners.append(None)
        return len(self.nodes) - 1

    def scored(self, *rewards: float | None, cut: Sequence[bool] = ()) -> ScoredTree:
        return ScoredTree(
            TokenTree(tuple(self.nodes)),
            tuple(self.owners),
            rewards,
            tuple(cut) or (False,) * len(rewards),
        )


def on_one_branch() -> ScoredTree:
    """Episode 0: two turns on a path. Episode 1: one turn."""
    tree = Builder([2, 3])
    first = tree.say(0, [4, 5], 0)
    tree.say(0, [7, 8, 9], tree.hear([6], first))
    tree.say(1, [10], 0)
    return tree.scored(1.0, 0.25)


def on_two_branches() -> ScoredTree:
    """The same, but a template broke the prefix: the second turn's context is told anew."""
    tree = Builder([2, 3])
    tree.say(0, [4, 5], 0)
    tree.say(0, [7, 8, 9], tree.hear([4, 5, 6], 0))
    tree.say(1, [10], 0)
    return tree.scored(1.0, 0.25)


def credited(scored: ScoredTree, **settings: object) -> TokenTree:
    algorithm = AlgorithmSettings(**settings)
    found = advantages([scored], algorithm, MAX_TOKENS)
    ((tree,),) = credit([scored], found, algorithm, MAX_TOKENS, 1)
    return tree


def by_token(tree: TokenTree, name: str) -> list[float]:
    return [float(v) for node in tree.nodes for v in getattr(node, name)[node.mask]]


AGGREGATIONS = ("token_mean", "sequence_mean", "fixed_length")


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
class TestBranches:
    def test_an_episodes_weight_does_not_depend_on_its_branches(self, aggregation: str) -> None:
        one, two = (
            credited(s, aggregation=aggregation) for s in (on_one_branch(), on_two_branches())
        )
        for name in ("weight", "advantage"):
            assert by_token(one, name) == by_token(two, name)

    def test_nor_does_the_gradient(self, aggregation: str, random_llama: nn.Module) -> None:
        """The tokens have the same contexts, so their log-probabilities are the same too."""
        found = []
        for scored in (on_one_branch(), on_two_branches()):
            settings = AlgorithmSettings(aggregation=aggregation)
            recipe = recipe_on(copy.deepcopy(random_llama), settings)
            recipe.reinforce_trees([scored])
            found.append(gradients(recipe)[0])
        assert found[0].norm() > 1e-3
        assert (found[0] - found[1]).norm() <= 1e-5 * found[0].norm()


class TestDenominators:
    def test_token_mean_counts_each_trained_token_once(self) -> None:
        """Tokens shared by branches stand once in the tree, and once in the mean."""
        tree = Builder([2])
        shared = tree.say(0, [3, 4], 0)
        tree.say(0, [5], shared)
        tree.say(0, [6, 7], shared)
        tree.say(1, [8], 0)
        scored = tree.scored(1.0, 0.0)
        assert scored.lengths == [5, 1]
        assert by_token(credited(scored), "weight") == pytest.approx([1 / 6] * 6)

    def test_sequence_mean_gives_each_episode_the_same(self) -> None:
        weights = by_token(credited(on_two_branches(), aggregation="sequence_mean"), "weight")
        assert weights == pytest.approx([0.5 / 5] * 5 + [0.5])

    def test_the_baseline_is_over_episodes_and_not_over_branches(self) -> None:
        found = by_token(credited(on_two_branches()), "advantage")
        assert found == pytest.approx([0.375] * 5 + [-0.375])

    def test_what_conditions_has_neither_weight_nor_advantage(self) -> None:
        tree = credited(on_one_branch())
        for node in (tree.nodes[0], tree.nodes[2]):
            assert not node.mask.any()
            assert not node.weight.any()


class TestReturnsOverTurns:
    """verl and SkyRL reset the return at observations: all but the last turn had no credit."""

    def turns(self, *, observed: bool) -> ScoredTree:
        """[a, a, o, o, a, a] and a reward of 1, or the same without the observations."""
        tree = Builder([2])
        first = tree.say(0, [3, 4], 0)
        tree.say(0, [7, 8], tree.hear([5, 6], first) if observed else first)
        return tree.scored(1.0)

    def test_every_action_returns_the_whole_reward(self) -> None:
        algorithm = AlgorithmSettings(baseline="none", kl_coef=0.1, returns="token")
        for observed in (True, False):
            k1 = [np.zeros(4, np.float32)]
            found = advantages([self.turns(observed=observed)], algorithm, MAX_TOKENS, k1)
            assert found[0][0].tolist() == [1.0] * 4

    def test_observations_change_no_generalised_advantage(self, random_llama: nn.Module) -> None:
        algorithm = AlgorithmSettings(name="ppo", scale="none", kl_coef=0.0)
        recipe = recipe_on(random_llama, algorithm)
        values = [np.array([0.1, 0.2, 0.3, 0.4], np.float32)]
        found = [
            recipe._estimates([self.turns(observed=observed)], values, None)[0][0][0].tolist()
            for observed in (True, False)
        ]
        assert found[0] == found[1]


class TestSequenceLevelPresets:
    def test_a_shared_trained_token_is_refused(self, random_llama: nn.Module) -> None:
        tree = Builder([2])
        shared = tree.say(0, [3, 4], 0)
        tree.say(0, [5], shared)
        tree.say(0, [6], shared)
        tree.say(1, [7], 0)
        recipe = recipe_on(random_llama, AlgorithmSettings(name="gspo"))
        with pytest.raises(ValueError, match=r"algorithm.ratio.*node 1"):
            recipe.reinforce_trees([tree.scored(1.0, 0.0)])

    @pytest.mark.parametrize("scored", [on_one_branch, on_two_branches])
    def test_episodes_of_whole_branches_are_not(self, scored, random_llama: nn.Module) -> None:
        recipe = recipe_on(random_llama, AlgorithmSettings(name="gspo"))
        assert recipe.reinforce_trees([scored()])[0].tokens == 6


class TestSplitting:
    @given(seed=st.integers(0, 2**16), unscored=st.sampled_from([0.0, 0.4]))
    def test_joining_undoes_splitting(self, seed: int, unscored: float) -> None:
        for group in random_groups(seed, groups=2, unscored=unscored):
            scored = scored_tree(group)
            flat = np.arange(scored.tree.trained_tokens, dtype=np.float32)
            parts = scored.split(flat)
            assert [len(p) for p in parts] == scored.lengths
            assert np.array_equal(scored.join(parts), flat)

    def test_an_episodes_turns_stay_in_order_between_those_of_others(self) -> None:
        tree = Builder([2])
        first = tree.say(0, [3, 4], 0)
        tree.say(1, [5], 0)
        tree.say(0, [7], tree.hear([6], first))
        scored = tree.scored(1.0, 0.0)
        parts = scored.split(np.array([1, 2, 3, 4], np.float32))
        assert [p.tolist() for p in parts] == [[1, 2, 4], [3]]
        assert scored.join(parts).tolist() == [1, 2, 3, 4]


class TestCutOff:
    def test_a_truncated_episode_goes_on_by_one_token(self) -> None:
        scored = on_two_branches()
        cut = ScoredTree(scored.tree, scored.owners, scored.rewards, (True, False))
        tree = cut.continued()
        assert len(tree.nodes) == len(scored.tree.nodes) + 1
        assert tree.nodes[-1].parent == 3
        assert tree.trained_tokens == scored.tree.trained_tokens + 1
        assert scored.continued() == scored.tree

    def test_its_value_follows_its_last_token(self, random_llama: nn.Module) -> None:
        """V past the end enters the last advantage, and by lambda the earlier ones."""
        plain = AlgorithmSettings(name="ppo", scale="none", kl_coef=0.0)
        recipe = recipe_on(random_llama, plain)
        scored = on_one_branch()
        cut = ScoredTree(scored.tree, scored.owners, scored.rewards, (True, False))
        values = recipe.learner.values([cut.tree])
        (terminal,), _ = recipe._estimates([cut], values, None)
        recipe.settings = AlgorithmSettings(
            name="ppo", scale="none", kl_coef=0.0, value={"truncation": "bootstrap"}
        )
        (bootstrap,), _ = recipe._estimates([cut], values, None)
        (after,) = recipe.learner.values([cut.continued()])
        gap = bootstrap[0] - terminal[0]
        assert gap == pytest.approx([after[-1] * 0.95**t for t in (4, 3, 2, 1, 0)], rel=1e-3)
        assert np.array_equal(bootstrap[1], terminal[1])


class TestRefusals:
    def test_a_trained_token_without_an_owner(self) -> None:
        tree = TokenTree((context_node([2]), action_node([3], 0)))
        with pytest.raises(ValueError, match="an episode that was scored"):
            ScoredTree(tree, (None, None), (1.0,), (False,))

    def test_a_trained_token_of_an_unscored_episode(self) -> None:
        tree = TokenTree((context_node([2]), action_node([3], 0)))
        with pytest.raises(ValueError, match="an episode that was scored"):
            ScoredTree(tree, (None, 0), (None,), (False,))

    def test_owners_of_other_nodes(self) -> None:
        with pytest.raises(ValueError, match="owners are by node"):
            ScoredTree(TokenTree((context_node([2]),)), (), (), ())
