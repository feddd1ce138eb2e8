"""All weights of a bf16 model, trained by fp32 masters: as in fp32 but for rounded activations."""

import copy
from collections.abc import Callable, Sequence

import pytest
import torch
from support.models import gpt2, llama
from support.scored_groups import credited_trees, random_groups
from torch import Tensor, nn
from torch.func import functional_call

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn.learner import Learner
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import TokenTree

TOKENS = torch.tensor([[3, 4, 5, 6, 7, 0, 0], [8, 9, 10, 11, 12, 13, 3]])

#: What rounding to bf16 loses of a number, at most.
ROUNDING = 2.0**-9

MODELS: dict[str, Callable[[], nn.Module]] = {
    "llama": llama,
    "tied": lambda: llama(tied=True),
    "biased": lambda: llama(attention_bias=True),
    "gpt2": gpt2,
}


def learner_on(
    model: nn.Module, *, kind: str = "full", lr: float = 1e-6, budget: int = 10**6
) -> Learner:
    optim = OptimSettings(lr=lr)
    policy = Policy(AdapterHost.wrap(model), PolicySettings(kind=kind), optim, 0)
    return Learner(model, policy, optim, AlgorithmSettings(), 1.0, 100, budget)


def trees_of(groups: int = 8) -> list[TokenTree]:
    return credited_trees(random_groups(0, groups=groups), AlgorithmSettings(), 8, 1)[0]


def gradient(trees: Sequence[TokenTree], budget: int, kind: str = "full") -> Tensor:
    """That of one update of a bf16 Llama, as the optimizer sees it but for its clip."""
    learner = learner_on(llama().bfloat16(), kind=kind, budget=budget)
    learner.optim = OptimSettings(lr=1e-6, grad_clip=1e9)
    learner.reinforce(trees)
    grads = [p.grad for p in learner.policy.parameters.values()]
    assert all(grad is not None and grad.dtype == torch.float32 for grad in grads)
    return torch.cat([grad.flatten() for grad in grads if grad is not None])


def distance(found: Tensor, truth: Tensor) -> float:
    return float((found - truth).norm() / truth.norm())


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_gradients_are_those_of_autocast(make: Callable[[], nn.Module]) -> None:
    """The plain way: fp32 leaves, rounded to bf16 within the graph, whose backward rounds too."""
    plain = make().bfloat16()
    leaves = {n: p.detach().float().requires_grad_() for n, p in plain.named_parameters()}
    rounded = {name: leaf.bfloat16() for name, leaf in leaves.items()}
    slopes = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(1)).bfloat16()
    (functional_call(plain, rounded, (TOKENS,)).logits * slopes).sum().backward()
    policy = learner_on(make().bfloat16()).policy
    (policy.host.model(TOKENS).logits * slopes).sum().backward()
    for path, leaf in leaves.items():
        layer, _, name = path.rpartition(".")
        wrapped = f"{layer}.base.{name}" if layer in policy.host.layers else path
        found = policy.parameters[wrapped].grad
        assert found is not None
        assert leaf.grad is not None
        assert distance(found, leaf.grad) < 4 * ROUNDING, path


def test_the_gradient_over_micro_batches_is_their_sum_in_fp32() -> None:
    trees = trees_of()
    alone = sum(gradient([tree], 10**6).double() for tree in trees)
    assert isinstance(alone, Tensor)
    assert distance(gradient(trees, 1).double(), alone) < 1e-6


@pytest.mark.parametrize("parts", [2, 4, 8])
@pytest.mark.parametrize("kind", ["full", "lora"])
def test_micro_batches_change_it_by_less_than_one_rounding(kind: str, parts: int) -> None:
    """Products of other shapes are summed in another order, and some activations are rounded to
    their other neighbour, 2^-8 away; measured: up to 9e-4 of the gradient, which bf16 as a whole
    moves by 1.6e-2. An adapter on a bf16 base is no different."""
    trees = trees_of()
    tokens = sum(len(node.tokens) for tree in trees for node in tree.nodes)
    found = gradient(trees, tokens // parts, kind)
    assert distance(found, gradient(trees, 10**6, kind)) < ROUNDING


def test_as_many_weights_change_as_in_fp32() -> None:
    """By 20 steps of 1e-6; in bf16 itself 2 % would."""
    trees, shares = trees_of(4), []
    for dtype in (torch.float32, torch.bfloat16):
        learner = learner_on(llama().to(dtype))
        before = copy.deepcopy(learner.policy.parameters)
        for _ in range(20):
            learner.reinforce(trees)
        after = learner.policy.parameters
        changed = sum(int((after[n] != before[n]).sum()) for n in after)
        shares.append(changed / sum(p.numel() for p in after.values()))
    assert shares[0] > 0.9
    assert shares[1] == pytest.approx(shares[0], abs=0.03)


class TestTheWeightsThatCompute:
    def assert_rounded(self, policy: Policy) -> None:
        """The model's own are the masters, rounded; these are of fp32 and say more."""
        for name, view in policy.host.model.named_parameters():
            assert view.dtype == torch.bfloat16
            assert torch.equal(view, policy.parameters[name].detach().bfloat16())
        assert any(
            not torch.equal(p.detach().bfloat16().float(), p.detach())
            for p in policy.parameters.values()
        )

    def test_they_follow_each_step(self) -> None:
        learner = learner_on(llama().bfloat16(), lr=1e-3)
        learner.reinforce(trees_of(2))
        self.assert_rounded(learner.policy)

    def test_they_follow_a_version_that_is_swapped_in(self) -> None:
        learner = learner_on(llama().bfloat16(), lr=1e-2)
        policy = learner.policy
        policy.snapshot()
        start = [p.detach().clone() for p in policy.host.model.parameters()]
        learner.reinforce(trees_of(2))
        policy.version += 1
        with policy.weights(0):
            now = list(policy.host.model.parameters())
            assert all(torch.equal(a, b) for a, b in zip(now, start, strict=True))
        self.assert_rounded(policy)


def test_an_adapter_on_a_bf16_base_is_fp32_throughout() -> None:
    learner = learner_on(llama().bfloat16(), kind="lora", lr=1e-3)
    learner.reinforce(trees_of(2))
    policy = learner.policy
    for parameter in policy.parameters.values():
        assert parameter.grad is not None
        moments = policy.optimizer.state[parameter].values()
        assert {t.dtype for t in (parameter, parameter.grad, *moments)} == {torch.float32}
