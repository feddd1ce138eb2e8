"""A checkpoint is whole or not there, on disk and in memory."""

import uuid
from pathlib import Path

import pytest
import torch
from support.models import llama
from support.scored_groups import credited_trees, random_groups
from torch import nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.disk.storage import Storage
from swarm.learn.learner import Learner
from swarm.policy import checkpoint
from swarm.policy.checkpoint import OPTIMIZER, POLICY, STATE, RunState, name_of
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy

OPTIM = OptimSettings(lr=1e-2, weight_decay=0.01)


def learner_on(model: nn.Module, kind: str = "lora") -> Learner:
    policy = Policy(AdapterHost.wrap(model), PolicySettings(kind=kind), OPTIM, 0)
    return Learner(model, policy, OPTIM, AlgorithmSettings(), 1.0, 10)


def step(learner: Learner) -> None:
    groups = random_groups(learner.policy.version)
    learner.reinforce(credited_trees(groups, AlgorithmSettings(), 8, 1)[0])
    learner.policy.version += 1


@pytest.fixture
def policy(random_llama: nn.Module) -> Policy:
    return learner_on(random_llama).policy


@pytest.fixture(params=["file", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Storage(f"{request.param}://{tmp_path}/{uuid.uuid4()}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", ["lora", "full"])
def test_training_goes_on_to_the_bit(
    kind: str, dtype: torch.dtype, storage: Storage, random_llama: nn.Module
) -> None:
    """Weights, moments, Adam's step count, snapshots and version all come back, in fp32."""
    models = (model.to(dtype) for model in (random_llama, llama()))
    straight, resumed = (learner_on(model, kind) for model in models)
    straight.policy.snapshot()
    for _ in range(3):
        step(straight)
    checkpoint.save(storage, straight.policy, RunState(3, 12.5))
    step(resumed)
    assert checkpoint.load(storage, 3, resumed.policy) == RunState(3, 12.5)
    assert resumed.policy.version == 3
    for learner in (straight, resumed):
        step(learner)
    computing = (learner.policy.host.model.parameters() for learner in (straight, resumed))
    assert all(torch.equal(a, b) for a, b in zip(*computing, strict=True))
    for name, parameter in straight.policy.parameters.items():
        assert parameter.dtype == torch.float32
        assert torch.equal(resumed.policy.parameters[name], parameter)
    assert resumed.policy.snapshots.keys() == {0}
    frozen = zip(resumed.policy.snapshots[0], straight.policy.snapshots[0], strict=True)
    assert all(torch.equal(a, b) for a, b in frozen)


def test_a_policy_that_has_not_stepped(policy: Policy, storage: Storage) -> None:
    """It has no moments yet."""
    checkpoint.save(storage, policy, RunState(1, 0.0))
    assert checkpoint.load(storage, 1, policy) == RunState(1, 0.0)
    assert not policy.optimizer.state


class TestNewest:
    def test_it_is_the_last_whole_one(self, policy: Policy, storage: Storage) -> None:
        for at in (2, 4):
            checkpoint.save(storage, policy, RunState(at, 0.0))
        assert checkpoint.newest(storage) == 4
        storage.write(name_of(6), [(STATE, b"{}")])
        assert checkpoint.newest(storage) == 4

    def test_none_at_all(self, storage: Storage) -> None:
        assert checkpoint.newest(storage) is None
        assert not checkpoint.holds_any(storage)

    def test_steps_are_numbers(self, policy: Policy, storage: Storage) -> None:
        for at in (999_999, 1_000_000):
            checkpoint.save(storage, policy, RunState(at, 0.0))
        assert checkpoint.newest(storage) == 1_000_000


class TestDropping:
    def test_only_the_newest_are_kept(self, policy: Policy, storage: Storage) -> None:
        for at in (1, 2, 3, 10):
            checkpoint.save(storage, policy, RunState(at, 0.0))
        assert storage.names() == ["step-000003", "step-000010"]

    def test_what_a_crash_left_is_no_checkpoint_to_keep(
        self, policy: Policy, storage: Storage
    ) -> None:
        checkpoint.save(storage, policy, RunState(1, 0.0))
        with pytest.raises(OSError, match="killed"):
            storage.write(name_of(2), killed_after_one_file())
        checkpoint.save(storage, policy, RunState(3, 0.0))
        assert storage.names() == ["step-000001", "step-000003"]

    def test_other_things_at_that_address_stay(self, policy: Policy, storage: Storage) -> None:
        storage.write("dataset", [("rows", b"1")])
        for at in (1, 2, 3):
            checkpoint.save(storage, policy, RunState(at, 0.0))
        checkpoint.take_over(storage, storage, None)
        assert storage.names() == ["dataset"]


def killed_after_one_file():
    yield POLICY, b"weights"
    raise OSError("killed")


class TestLoading:
    @pytest.mark.parametrize("name", [POLICY, OPTIMIZER, STATE])
    def test_a_damaged_one_leaves_the_policy_as_it_was(
        self, policy: Policy, tmp_path: Path, name: str
    ) -> None:
        storage = Storage(tmp_path)
        checkpoint.save(storage, policy, RunState(2, 0.0))
        before = [p.detach().clone() for p in policy.parameters.values()]
        path = tmp_path / name_of(2) / name
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(FileNotFoundError, match="missing or damaged"):
            checkpoint.load(storage, 2, policy)
        after = policy.parameters.values()
        assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))

    def test_saving_again_replaces(self, policy: Policy, storage: Storage) -> None:
        for wall in (0.0, 1.0):
            checkpoint.save(storage, policy, RunState(2, wall))
        assert checkpoint.load(storage, 2, policy).wall == 1.0


class TestTakingOver:
    @pytest.mark.parametrize("elsewhere", [True, False])
    def test_later_ones_go(
        self, policy: Policy, storage: Storage, tmp_path: Path, elsewhere: bool
    ) -> None:
        """Of a try at this very attempt that was cut short: its rows would be missing."""
        target = Storage(tmp_path / "new") if elsewhere else storage
        checkpoint.save(storage, policy, RunState(4, 2.5))
        for name in (name_of(3), name_of(5)):
            target.write(name, [(STATE, b"{}")])
        checkpoint.take_over(storage, target, 4)
        assert target.names() == [name_of(3), name_of(4)]
        assert checkpoint.load(target, 4, policy) == RunState(4, 2.5)
