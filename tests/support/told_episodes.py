"""What the slow formulas are told of a batch, and their gradient at a recipe's weights."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from support import naive
from support.naive_losses import Told
from swarm.learn.learner import UpdateMetrics
from swarm.learn.recipe import Recipe
from swarm.records import Episode, Group, TokenTree, action_node, context_node

Weights = Mapping[str, Tensor]


def told(recipe: Recipe, groups: Sequence[Group], start: Weights | None = None) -> list[list[Told]]:
    """Every scored episode, run alone and unpadded through the model. `start` are the weights at
    the batch's start, those in force by default."""
    return [
        [_told(recipe, g, e, start or weights(recipe)) for e in g.episodes if e.reward is not None]
        for g in groups
    ]


def _told(recipe: Recipe, group: Group, episode: Episode, start: Weights) -> Told:
    learner, policy = recipe.learner, recipe.learner.policy
    answer = list(episode.completion.tokens)
    nodes = [context_node(group.prompt), *([action_node(answer, 0)] if answer else [])]
    tree, temperature = TokenTree(tuple(nodes)), learner.temperature
    with policy.active():
        now = naive.trained_tokens(learner.model, tree, temperature)
    with torch.no_grad(), policy.active(), policy.weights(0):
        ref = naive.trained_tokens(learner.model, tree, temperature).logprobs
    values: list[float] = []
    with torch.no_grad(), policy.active(), at(recipe, start):
        old = naive.trained_tokens(learner.model, tree, temperature).logprobs
        if policy.value_head is not None:
            row = torch.tensor([[*group.prompt, *answer]])
            hidden_TD = learner.model.get_decoder()(row).last_hidden_state[0]  # type: ignore[operator]
            values = policy.value_head(hidden_TD[len(group.prompt) - 1 : -1]).tolist()
    mu = torch.tensor(episode.completion.logprobs)
    reward = float(episode.reward or 0.0)
    return Told(now.logprobs, mu, ref, old, now.entropy, reward, values)


def truth(recipe: Recipe, loss: Tensor) -> Tensor:
    """The gradient of a slow loss in the policy, as one vector; its graph is kept."""
    policy = recipe.learner.policy
    own = [p for name, p in policy.parameters.items() if not name.startswith("value_head.")]
    found = torch.autograd.grad(loss, own, allow_unused=True, retain_graph=True)
    pairs = zip(own, found, strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in pairs])


def weights(recipe: Recipe) -> Weights:
    return {name: p.detach().clone() for name, p in recipe.learner.policy.parameters.items()}


def put(recipe: Recipe, values: Weights) -> None:
    for name, p in recipe.learner.policy.parameters.items():
        p.data.copy_(values[name])


@contextmanager
def at(recipe: Recipe, values: Weights) -> Iterator[None]:
    """Within this context the policy has other weights."""
    before = {name: p.data for name, p in recipe.learner.policy.parameters.items()}
    for name, p in recipe.learner.policy.parameters.items():
        p.data = values[name]
    try:
        yield
    finally:
        for name, p in recipe.learner.policy.parameters.items():
            p.data = before[name]


def watched(recipe: Recipe) -> list[Weights]:
    """The weights before each update from now on, in a list that grows."""
    before: list[Weights] = []
    update = recipe.learner.reinforce

    def reinforce(*arguments: Any) -> UpdateMetrics:
        before.append(weights(recipe))
        return update(*arguments)

    recipe.learner.reinforce = reinforce  # type: ignore[method-assign]
    return before
