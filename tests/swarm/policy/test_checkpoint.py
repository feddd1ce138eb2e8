"""A checkpoint is all or nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from random_models import llama
from scored_groups import random_groups
from torch import nn

from swarm.config import AlgorithmSettings, OptimSettings, PolicySettings
from swarm.learn.credit import credited_trees
from swarm.learn.learner import Learner
from swarm.policy import checkpoint
from swarm.policy.checkpoint import MANIFEST, OPTIMIZER, POLICY, STATE, RunState
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


@pytest.mark.parametrize("kind", ["lora", "full"])
def test_training_goes_on_to_the_bit(kind: str, tmp_path: Path, random_llama: nn.Module) -> None:
    """Weights, moments, Adam's step count, snapshots and version all come back."""
    straight, resumed = learner_on(random_llama, kind), learner_on(llama(), kind)
    straight.policy.snapshot()
    for _ in range(3):
        step(straight)
    where = checkpoint.save(tmp_path, straight.policy, RunState(3, 12.5))
    step(resumed)
    assert checkpoint.load(where, resumed.policy) == RunState(3, 12.5)
    assert resumed.policy.version == 3
    for learner in (straight, resumed):
        step(learner)
    for name, parameter in straight.policy.parameters.items():
        assert torch.equal(resumed.policy.parameters[name], parameter)
    assert resumed.policy.snapshots.keys() == {0}
    frozen = zip(resumed.policy.snapshots[0], straight.policy.snapshots[0], strict=True)
    assert all(torch.equal(a, b) for a, b in frozen)


def test_a_policy_that_has_not_stepped(policy: Policy, tmp_path: Path) -> None:
    """It has no moments yet."""
    where = checkpoint.save(tmp_path, policy, RunState(1, 0.0))
    assert checkpoint.load(where, policy) == RunState(1, 0.0)
    assert not policy.optimizer.state


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def remove(path: Path) -> None:
    path.unlink()


class TestDamage:
    """The one before is used."""

    @pytest.mark.parametrize("harm", [cut_short, flip_a_bit, remove])
    @pytest.mark.parametrize("name", [POLICY, OPTIMIZER, STATE, MANIFEST])
    def test_a_damaged_file(
        self, policy: Policy, tmp_path: Path, name: str, harm: Callable[[Path], None]
    ) -> None:
        older = checkpoint.save(tmp_path, policy, RunState(2, 0.0))
        newer = checkpoint.save(tmp_path, policy, RunState(4, 0.0))
        assert checkpoint.newest(tmp_path) == newer
        harm(newer / name)
        assert checkpoint.newest(tmp_path) == older

    def test_a_manifest_that_leaves_out_a_file(self, policy: Policy, tmp_path: Path) -> None:
        where = checkpoint.save(tmp_path, policy, RunState(2, 0.0))
        hashes = json.loads((where / MANIFEST).read_text())
        (where / MANIFEST).write_text(json.dumps({STATE: hashes[STATE]}))
        assert checkpoint.newest(tmp_path) is None

    def test_none_at_all(self, tmp_path: Path) -> None:
        assert checkpoint.newest(tmp_path) is None
        assert checkpoint.newest(tmp_path / "absent") is None

    def test_a_crash_while_writing_leaves_the_one_before(
        self, policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        older = checkpoint.save(tmp_path, policy, RunState(2, 0.0))

        def crash(path: Path, tensors: object) -> None:
            if path.name == OPTIMIZER:
                raise OSError("no space left on device")

        monkeypatch.setattr(checkpoint, "_write", crash)
        with pytest.raises(OSError, match="no space"):
            checkpoint.save(tmp_path, policy, RunState(4, 0.0))
        assert checkpoint.newest(tmp_path) == older


def test_only_the_newest_are_kept(policy: Policy, tmp_path: Path) -> None:
    for at in (1, 2, 3, 10):
        checkpoint.save(tmp_path, policy, RunState(at, 0.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000003", "step-000010"]


def test_saving_again_replaces(policy: Policy, tmp_path: Path) -> None:
    where = checkpoint.save(tmp_path, policy, RunState(2, 0.0))
    flip_a_bit(where / POLICY)
    checkpoint.save(tmp_path, policy, RunState(2, 1.0))
    assert checkpoint.newest(tmp_path) == where
    assert checkpoint.load(where, policy).wall == 1.0
