"""Each preset's gradient against its paper's formula, coded slowly in `naive_losses`."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support import naive_losses
from support.naive_losses import PAPERS, loss
from support.preset_updates import MAX_TOKENS, gradients, recipe_on
from support.scored_groups import random_groups
from support.told_episodes import put, told, truth, watched
from torch import Tensor, nn

from swarm.algorithms import PRESETS
from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.forward import trained_logprobs
from swarm.learn.scored import scored_tree
from swarm.records import Group, TokenTree, action_node, context_node

#: Sums in another order, in fp32, relative to the gradient's norm.
ROUNDING = 2e-5


def assert_same(found: Tensor, expected: Tensor) -> None:
    assert expected.norm() > 1e-4
    assert (found - expected).norm() <= ROUNDING * expected.norm()


def demonstrations(groups: Sequence[Group]) -> list[TokenTree]:
    return [
        TokenTree((context_node(g.prompt), action_node(e.completion.tokens, 0)))
        for g in groups
        for e in g.episodes
    ]


def test_every_preset_has_a_slow_formula() -> None:
    assert set(PAPERS) == set(PRESETS)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", PRESETS)
def test_the_gradient_is_the_papers(random_llama: nn.Module, name: str, seed: int) -> None:
    """With unequal lengths, off-policy ratios on both sides of every bound, and a reference that
    the policy has left."""
    groups = random_groups(seed, groups=5, longest=MAX_TOKENS, unscored=0.1 if seed else 0.0)
    recipe = recipe_on(random_llama, AlgorithmSettings(name=name), budget=60)
    expected = truth(recipe, loss(name, told(recipe, groups), MAX_TOKENS))
    if name == "sft":
        groups = random_groups(seed, groups=5, longest=MAX_TOKENS)
        expected = truth(recipe, loss(name, told(recipe, groups), MAX_TOKENS))
        recipe.imitate(demonstrations(groups))
    else:
        recipe.reinforce(groups)
    assert_same(gradients(recipe)[0], expected)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "sft"])
def test_a_later_updates_gradient_is_the_papers(random_llama: nn.Module, name: str) -> None:
    """The last of two passes over two minibatches: the policy has left the batch's start."""
    groups = random_groups(5, groups=4, members=3, longest=MAX_TOKENS)
    recipe = recipe_on(random_llama, AlgorithmSettings(name=name), epochs=2, minibatches=2)
    if name == "gspo":  # a range this narrow holds everything after a larger step
        recipe.learner.optim = recipe.learner.optim.model_copy(update={"lr": 1e-5})
    before = watched(recipe)
    seen = recipe.reinforce(groups)
    found = gradients(recipe)[0]
    put(recipe, before[-1])
    episodes = told(recipe, groups, before[0])
    assert_same(found, truth(recipe, loss(name, episodes, MAX_TOKENS, slice(2, 4))))
    if name == "gspo":
        clipped = seen[-1].sums["clipped_low"] + seen[-1].sums["clipped_high"]
        assert 0 < clipped < seen[-1].tokens


@pytest.mark.parametrize("name", ["default", "cispo", "dppo"])
def test_the_bounds_bind_in_these_tests(random_llama: nn.Module, name: str) -> None:
    """Else the test above would say nothing of clipping and masking."""
    recipe = recipe_on(random_llama, AlgorithmSettings(name=name))
    (seen,) = recipe.reinforce(random_groups(0, groups=5, longest=MAX_TOKENS))
    if name == "dppo":
        assert 0 < seen.sums["masked"] < seen.tokens
    elif name == "cispo":
        assert (
            seen.maxima["ratio"] > 2
        )  # [0, 5] is wide: the cap itself is tested in test_objectives
    else:
        assert seen.sums["clipped_low"] > 0
        assert seen.sums["clipped_high"] > 0


class TestValueHead:
    def test_it_learns_towards_the_returns(self, random_llama: nn.Module) -> None:
        """At the first update V is its old value, so the loss is the mean of 1/2 (V - R)^2."""
        groups = random_groups(4, groups=4, longest=MAX_TOKENS)
        recipe = recipe_on(random_llama, AlgorithmSettings(name="ppo"), budget=60)
        head = recipe.learner.policy.value_head
        assert head is not None
        episodes = naive_losses.flat(told(recipe, groups))
        total, policy = torch.zeros(()), recipe.learner.policy
        index = iter(episodes)
        for group in groups:
            for episode in group.episodes:
                found = next(index)
                row = torch.tensor([[*group.prompt, *episode.completion.tokens]])
                with torch.no_grad(), policy.active():
                    hidden_TD = recipe.learner.model.get_decoder()(row).last_hidden_state[0]
                returns = np.add(naive_losses.gae(PAPERS["ppo"], found, MAX_TOKENS), found.values)
                gap = head(hidden_TD[len(group.prompt) - 1 : -1]) - torch.tensor(returns)
                total = total + 0.5 * (gap**2).sum()
        mean = total / sum(e.length for e in episodes)
        parts = torch.autograd.grad(mean, list(head.parameters()))
        (seen,) = recipe.reinforce(groups)
        assert seen.sums["value"] == pytest.approx(mean.item(), rel=1e-4)
        assert_same(gradients(recipe)[1], torch.cat([p.flatten() for p in parts]).float())

    def test_it_sends_nothing_into_the_policy(self, random_llama: nn.Module) -> None:
        recipe = recipe_on(random_llama, AlgorithmSettings(name="ppo"))
        policy, trees = recipe.learner.policy, [scored_tree(g).tree for g in random_groups(5)]
        assert policy.value_head is not None
        with policy.active():
            seen = trained_logprobs(random_llama, trees, 1.0)
        assert seen.hidden.requires_grad
        values = policy.value_head(seen.hidden).sum()
        found = torch.autograd.grad(values, list(policy.parameters.values()), allow_unused=True)
        touched = {name for name, g in zip(policy.parameters, found, strict=True) if g is not None}
        assert touched == {name for name in policy.parameters if name.startswith("value_head.")}

    def test_it_keeps_its_learning_rate_and_has_a_clip_of_its_own(
        self, random_llama: nn.Module
    ) -> None:
        """The policy's schedule and the policy's gradient norm are the policy's."""
        groups = random_groups(6, groups=4, longest=MAX_TOKENS)
        recipe = recipe_on(random_llama, AlgorithmSettings(name="ppo"))
        learner = recipe.learner
        (free,) = recipe.reinforce(groups)
        norms = [g.norm().item() for g in gradients(recipe)]
        assert free.grad_norm == pytest.approx(norms[0])
        learner.policy.version = 5
        learner.optim = learner.optim.model_copy(
            update={"schedule": "linear", "grad_clip": min(norms) / 10}
        )
        (held,) = recipe.reinforce(groups)
        assert held.lr == pytest.approx(5e-3)
        assert [g["lr"] for g in learner.policy.optimizer.param_groups] == [held.lr, 1e-2]
        for g in gradients(recipe):
            assert g.norm().item() == pytest.approx(min(norms) / 10, rel=1e-4)
