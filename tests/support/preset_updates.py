"""One update of a preset on a random model, away from its reference."""

import torch
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import BatchSettings, OptimSettings, PolicySettings
from swarm.learn.learner import Learner
from swarm.learn.recipe import Recipe
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy

MAX_TOKENS = 8
TEMPERATURE = 0.8


def recipe_on(
    model: nn.Module,
    algorithm: AlgorithmSettings,
    *,
    budget: int = 10**6,
    epochs: int = 1,
    minibatches: int = 1,
) -> Recipe:
    """A LoRA policy that has left its reference (the base), and a value head with opinions."""
    optim = OptimSettings(lr=1e-2, grad_clip=1e9)
    policy = Policy(AdapterHost.wrap(model), PolicySettings(rank=4), optim, seed=0)
    rng = torch.Generator().manual_seed(1)
    if algorithm.baseline == "value":
        policy.add_value_head(1e-2, seed=3)
    policy.snapshot()
    for pair in policy.pairs.values():
        pair.b.data.normal_(0, 0.1, generator=rng)
    if policy.value_head is not None:
        policy.value_head.outer.data.normal_(0, 0.3, generator=rng)
    temperature = TEMPERATURE if algorithm.samples else 1.0
    learner = Learner(model, policy, optim, algorithm, temperature, 10, budget)
    batch = BatchSettings(rollouts=8, group_size=2, epochs=epochs, minibatches=minibatches)
    return Recipe(learner, batch, MAX_TOKENS)


def gradients(recipe: Recipe) -> tuple[Tensor, Tensor]:
    """Of the last update: the policy's, and the value head's (empty without one), as vectors."""
    policy = recipe.learner.policy
    own = {name: p for name, p in policy.parameters.items() if not name.startswith("value_head.")}
    head = [p for name, p in policy.parameters.items() if name not in own]
    return vector(list(own.values())), vector(head)


def vector(parameters: list[nn.Parameter]) -> Tensor:
    rows = [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters]
    return torch.cat(rows) if rows else torch.zeros(0)
