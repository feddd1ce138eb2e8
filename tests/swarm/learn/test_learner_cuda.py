"""The learner on CUDA: the update it makes is the one it makes on the CPU."""

import copy

import pytest
import torch
from support.scored_groups import credited_trees, random_groups
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn.learner import Learner
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy

pytestmark = pytest.mark.gpu


def update(model: nn.Module, device: str, dtype: torch.dtype, kind: str = "lora") -> Tensor:
    """The gradient of one update, all parameters as one vector on the CPU."""
    model = copy.deepcopy(model).to(device=device, dtype=dtype)
    optim, algorithm = OptimSettings(grad_clip=1e9), AlgorithmSettings(entropy_coef=0.1)
    policy = Policy(AdapterHost.wrap(model), PolicySettings(kind=kind, rank=4), optim, seed=0)
    rng = torch.Generator().manual_seed(1)
    for pair in policy.pairs.values():
        pair.b.data.copy_(torch.empty(pair.b.shape).normal_(0, 0.1, generator=rng))
    trees = credited_trees(random_groups(0), algorithm, 8, 1)[0]
    Learner(model, policy, optim, algorithm, 0.8, 10).reinforce(trees)
    grads = [p.grad for p in policy.parameters.values() if p.grad is not None]
    assert {g.dtype for g in grads} == {torch.float32}
    return torch.cat([g.flatten().float().cpu() for g in grads])


@pytest.mark.parametrize("kind", ["lora", "full"])
def test_fp32_equals_the_cpu(random_llama: nn.Module, kind: str) -> None:
    truth = update(random_llama, "cpu", torch.float32, kind)
    found = update(random_llama, "cuda", torch.float32, kind)
    assert (found - truth).norm() <= 1e-4 * truth.norm()


@pytest.mark.parametrize("kind", ["lora", "full"])
def test_a_bf16_base_points_the_same_way(random_llama: nn.Module, kind: str) -> None:
    truth = update(random_llama, "cpu", torch.float32, kind)
    found = update(random_llama, "cuda", torch.bfloat16, kind)
    assert torch.cosine_similarity(found, truth, dim=0) > 0.98
