"""What must not change any preset's gradient: micro-batches, order, what is not trained."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from support.preset_updates import MAX_TOKENS, gradients, recipe_on
from support.scored_groups import episode, group, random_groups
from torch import Tensor, nn

from swarm.algorithms import NAMES
from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.credit import keep_groups
from swarm.learn.scored import scored_tree
from swarm.records import Group, TokenTree, action_node, context_node

#: Sums in another order, in fp32, relative to the gradient's norm.
ROUNDING = 2e-5

SAMPLING = tuple(name for name in NAMES if name != "sft")
TREES = tuple(name for name in SAMPLING if name != "dpo")


def update(
    model: nn.Module, name: str, groups: Sequence[Group], *, budget: int = 10**6
) -> tuple[Tensor, Tensor]:
    recipe = recipe_on(copy.deepcopy(model), AlgorithmSettings(name=name), budget=budget)
    recipe.reinforce(keep_groups(groups, "none"))
    return gradients(recipe)


def assert_same(found: tuple[Tensor, Tensor], truth: tuple[Tensor, Tensor]) -> None:
    assert truth[0].norm() > 1e-4
    for a, b in zip(found, truth, strict=True):
        assert (a - b).norm() <= ROUNDING * b.norm()


@pytest.mark.parametrize("name", SAMPLING)
class TestTheGradientDoesNotDependOn:
    def test_the_token_budget(self, random_llama: nn.Module, name: str) -> None:
        groups = random_groups(0, groups=5, longest=MAX_TOKENS, unscored=0.2)
        truth = update(random_llama, name, groups)
        for budget in (1, 60, 120):
            assert_same(update(random_llama, name, groups, budget=budget), truth)

    def test_the_order_of_groups(self, random_llama: nn.Module, name: str) -> None:
        groups = random_groups(1, groups=5, longest=MAX_TOKENS)
        truth = update(random_llama, name, groups, budget=60)
        assert_same(update(random_llama, name, groups[::-1], budget=60), truth)

    def test_an_episode_that_was_not_scored(self, random_llama: nn.Module, name: str) -> None:
        groups = random_groups(2, longest=MAX_TOKENS)
        unscored = episode([5] * MAX_TOKENS, None)
        added = [replace(g, episodes=(unscored, *g.episodes)) for g in groups]
        added.append(group([2, 3], unscored))
        assert_same(update(random_llama, name, added), update(random_llama, name, groups))


@pytest.mark.parametrize("name", TREES)
def test_a_group_without_trained_tokens_changes_nothing(random_llama: nn.Module, name: str) -> None:
    groups = [scored_tree(g) for g in random_groups(3, longest=MAX_TOKENS)]
    idle = scored_tree(group([3] * 9, episode([4], None)))
    found = []
    for scored in (groups, [idle, *groups, idle]):
        recipe = recipe_on(copy.deepcopy(random_llama), AlgorithmSettings(name=name), budget=60)
        recipe.reinforce_trees(scored)
        found.append(gradients(recipe))
    assert_same(found[1], found[0])


@pytest.mark.parametrize("minibatches", [1, 2])
def test_demonstrations_in_any_micro_batch(random_llama: nn.Module, minibatches: int) -> None:
    rows = [
        TokenTree((context_node(g.prompt), action_node(e.completion.tokens, 0)))
        for g in random_groups(4, longest=MAX_TOKENS)
        for e in g.episodes
    ]
    found = []
    for budget in (1, 40, 10**6):
        settings = AlgorithmSettings(name="sft")
        recipe = recipe_on(
            copy.deepcopy(random_llama), settings, budget=budget, minibatches=minibatches
        )
        seen = recipe.imitate(rows)
        assert sum(u.tokens for u in seen) == sum(row.trained_tokens for row in rows)
        found.append(gradients(recipe))
    for other in found[1:]:
        assert_same(other, found[0])


@pytest.mark.parametrize("kind", ["none", "tis", "icepop", "decoupled"])
def test_the_first_update_from_the_batchs_start_has_ratio_one(
    random_llama: nn.Module, kind: str
) -> None:
    """To the bit: the anchor is read in the micro-batches that the update runs in."""
    algorithm = AlgorithmSettings(anchor="batch_start", correction={"kind": kind})
    recipe = recipe_on(random_llama, algorithm, budget=60, epochs=2, minibatches=2)
    seen = recipe.reinforce(random_groups(5, groups=6, longest=MAX_TOKENS))
    assert seen[0].maxima["ratio"] == 1.0
    assert all(u.maxima["ratio"] != 1.0 for u in seen[2:])
    assert torch.isfinite(gradients(recipe)[0]).all()
