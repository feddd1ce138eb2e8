"""Policies on a shared base do not leak into each other, nor into the base."""

import copy
from collections.abc import Sequence

import pytest
import torch
from support.scored_groups import credited_trees, random_groups
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn.forward import trained_logprobs
from swarm.learn.learner import Learner, PerTreeArrays
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import TokenTree

#: Weight decay and a clip that holds, so that a leak through either would show.
OPTIM = OptimSettings(lr=1e-2, weight_decay=0.1, grad_clip=0.01)


def batch(step: int, slot: str = "a") -> list[TokenTree]:
    """What a slot trains on at a step."""
    groups = random_groups(100 * step + len(slot) + ord(slot[0]))
    return credited_trees(groups, AlgorithmSettings(), 8, 1)[0]


def learner_in(host: AdapterHost, slot: str, optim: OptimSettings = OPTIM) -> Learner:
    rank, targets = {"a": (4, "all"), "b": (2, "attention")}[slot]
    settings = PolicySettings(rank=rank, targets=targets)
    policy = Policy(host, settings, optim, seed=ord(slot), slot=slot)
    return Learner(host.model, policy, optim, AlgorithmSettings(), 1.0, 20)


def state(policy: Policy) -> list[Tensor]:
    """Weights and moments, copied."""
    tensors = list(policy.parameters.values())
    tensors += [t for entry in policy.optimizer.state.values() for t in entry.values()]
    return [tensor.detach().clone() for tensor in tensors]


def equal(a: Sequence[Tensor], b: Sequence[Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def step_alone(model: nn.Module, slot: str, steps: int) -> list[Tensor]:
    learner = learner_in(AdapterHost.wrap(copy.deepcopy(model)), slot)
    for step in range(steps):
        learner.reinforce(batch(step, slot))
        learner.policy.version += 1
    return state(learner.policy)


class TestIsolation:
    def test_interleaved_training_equals_each_policy_alone_to_the_bit(
        self, random_llama: nn.Module
    ) -> None:
        host = AdapterHost.wrap(copy.deepcopy(random_llama))
        learners = {slot: learner_in(host, slot) for slot in ("a", "b")}
        for step in range(5):
            for slot, learner in learners.items():
                learner.reinforce(batch(step, slot))
                learner.policy.version += 1
        for slot, learner in learners.items():
            assert equal(state(learner.policy), step_alone(random_llama, slot, 5))

    def test_a_step_moves_its_own_parameters_alone(self, random_llama: nn.Module) -> None:
        host = AdapterHost.wrap(random_llama)
        a, b = learner_in(host, "a"), learner_in(host, "b")
        b.reinforce(batch(0, "b"))
        before_a, before_b = state(a.policy), state(b.policy)
        a.reinforce(batch(1))
        assert equal(state(b.policy), before_b)
        assert not equal(state(a.policy), before_a)

    def test_the_base_is_bit_identical_after_a_hundred_steps(self, random_llama: nn.Module) -> None:
        before = {key: value.clone() for key, value in random_llama.state_dict().items()}
        host = AdapterHost.wrap(random_llama)
        learner = learner_in(host, "a")
        for step in range(100):
            learner.reinforce(batch(step % 5))
            learner.policy.version += 1
        after = host.base_state_dict()
        assert all(torch.equal(after[key], before[key]) for key in before)
        assert not any(p.requires_grad for p in host.model.parameters())

    def test_an_exception_during_a_step_leaves_no_policy_active(
        self, random_llama: nn.Module
    ) -> None:
        learner = learner_in(AdapterHost.wrap(random_llama), "a")
        with pytest.raises(IndexError):
            learner.reinforce([TokenTree(batch(0)[0].nodes), *batch(0)], PerTreeArrays([]))
        assert learner.policy.host.routing.slot is None


class TestFrozenVersions:
    @pytest.mark.parametrize("kind", ["lora", "full"])
    def test_a_fresh_policy_is_its_reference_exactly(
        self, random_llama: nn.Module, kind: str
    ) -> None:
        """KL 0 against itself; another policy after a step; and itself again inside `weights`."""
        policy = Policy(AdapterHost.wrap(random_llama), PolicySettings(kind=kind), OPTIM, 0)
        learner = Learner(random_llama, policy, OPTIM, AlgorithmSettings(), 1.0, 10)
        with torch.no_grad():
            base = trained_logprobs(random_llama, batch(0), 1.0).logprobs
        policy.snapshot()

        def now() -> Tensor:
            return torch.cat([torch.as_tensor(x) for x in learner.logprobs(batch(0), 1.0)])

        assert torch.equal(now(), base)
        learner.reinforce(batch(0))
        policy.version += 1
        trained = now()
        assert not torch.equal(trained, base)
        with policy.weights(0):
            assert torch.equal(now(), base)
        assert torch.equal(now(), trained)

    def test_a_continued_policy_is_measured_against_its_start(
        self, random_llama: nn.Module
    ) -> None:
        """After a warm-up the reference is the warmed-up policy, not the base."""
        learner = learner_in(AdapterHost.wrap(random_llama), "a")
        learner.supervise(batch(0), 1e-2)
        start = learner.logprobs(batch(1), 1.0)
        learner.policy.snapshot()
        with learner.policy.weights(0):
            frozen = learner.logprobs(batch(1), 1.0)
        assert all((a == b).all() for a, b in zip(start, frozen, strict=True))

    def test_weights_are_put_back_after_an_exception(self, random_llama: nn.Module) -> None:
        learner = learner_in(AdapterHost.wrap(random_llama), "a")
        learner.policy.snapshot()
        learner.reinforce(batch(0))
        learner.policy.version += 1
        before = state(learner.policy)
        with pytest.raises(RuntimeError), learner.policy.weights(0):
            raise RuntimeError
        assert equal(state(learner.policy), before)

    def test_a_snapshot_does_not_move_with_training(self, random_llama: nn.Module) -> None:
        learner = learner_in(AdapterHost.wrap(random_llama), "a")
        policy = learner.policy
        policy.snapshot()
        frozen = [tensor.clone() for tensor in policy.snapshots[0]]
        with policy.weights(0):
            pass
        learner.reinforce(batch(0))
        assert equal(policy.snapshots[0], frozen)

    def test_training_goes_on_as_if_no_version_had_been_swapped_in(
        self, random_llama: nn.Module
    ) -> None:
        host = AdapterHost.wrap(copy.deepcopy(random_llama))
        learner = learner_in(host, "a")
        learner.policy.snapshot()
        for step in range(3):
            with learner.policy.weights(0):
                learner.logprobs(batch(9), 1.0)
            learner.reinforce(batch(step))
            learner.policy.version += 1
        assert equal(state(learner.policy), step_alone(random_llama, "a", 3))

    def test_forgotten_and_unknown_versions(self, random_llama: nn.Module) -> None:
        policy = learner_in(AdapterHost.wrap(random_llama), "a").policy
        for _ in range(4):
            policy.snapshot()
            policy.version += 1
        policy.forget(keep={0, 3})
        assert sorted(policy.snapshots) == [0, 3]
        with pytest.raises(KeyError), policy.weights(1):
            pass
        with policy.weights(4):  # the live weights need no snapshot
            pass
