"""Checkpoints: all that a run needs to go on, each complete or absent (see `swarm.disk.storage`).

    step-000020/
      policy.safetensors      the trained parameters
      optimizer.safetensors   AdamW's moments and steps, by parameter name
      snapshots.safetensors   frozen versions still needed (reference, staleness)
      state.json              version, wall seconds, the difficulty sampler's figures
      manifest.json           sha256 of each, written last

Prompts, draws and schedules are functions of seed, step and these, so no RNG state is kept.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from swarm.disk.storage import Storage
from swarm.policy.policy import Policy

POLICY, OPTIMIZER = "policy.safetensors", "optimizer.safetensors"
SNAPSHOTS, STATE = "snapshots.safetensors", "state.json"
#: How many checkpoints a run leaves, the newest.
KEPT = 2
FILES = frozenset({POLICY, OPTIMIZER, SNAPSHOTS, STATE})


@dataclass(frozen=True)
class RunState:
    """Where a run stands beside its tensors. `signal` is what its difficulty sampler has seen."""

    step: int
    wall: float
    signal: dict[str, dict[str, float]] = field(default_factory=dict)


def name_of(step: int) -> str:
    """The checkpoint of a step, as its storage names it."""
    return f"step-{step:06d}"


def save(storage: Storage, policy: Policy, state: RunState, *, keep: int = KEPT) -> None:
    """Write a checkpoint; once it exists, drop all before it but the newest, `keep` in all."""
    storage.write(name_of(state.step), _files(policy, state))
    kept = [step for step in steps_of(storage) if storage.is_written(name_of(step))][-keep:]
    for step in steps_of(storage):
        if step not in kept:
            storage.remove(name_of(step))


@dataclass(frozen=True)
class Survey:
    """What a storage holds: the step of the newest checkpoint that is whole, and the steps of later
    ones that were written to their end and are damaged since."""

    newest: int | None
    damaged: tuple[int, ...]


def survey(storage: Storage) -> Survey:
    """Look for the checkpoint to go on from. Raises BadStorage where it cannot be read."""
    damaged: list[int] = []
    for step in reversed(steps_of(storage)):
        hashes = storage.hashes(name_of(step))
        if hashes is not None and hashes.keys() == FILES:
            return Survey(step, tuple(damaged))
        if storage.is_written(name_of(step)):
            damaged.insert(0, step)
    return Survey(None, tuple(damaged))


def newest(storage: Storage) -> int | None:
    """The step of the newest checkpoint that exists."""
    return survey(storage).newest


def take_over(source: Storage, target: Storage, step: int | None) -> None:
    """Keep in `target` the checkpoint of `step` and remove later ones; without a step, remove all.

    The checkpoint is copied from `source` where that is another place."""
    for later in steps_of(target):
        if step is None or later > step:
            target.remove(name_of(later))
    if step is not None and not target.is_at(source):
        target.copy_from(source, name_of(step))


def holds_any(storage: Storage) -> bool:
    """Whether there is a checkpoint, or what is left of one."""
    return bool(steps_of(storage))


def load(storage: Storage, step: int, policy: Policy) -> RunState:
    """Put the weights, moments and snapshots of a step's checkpoint into `policy`. Raises
    FileNotFoundError, leaving the policy as it was, where that checkpoint does not exist."""
    files = {file: storage.read(name_of(step), file) for file in sorted(FILES)}
    parameters, moments, frozen = (
        _tensors(files[file], policy) for file in (POLICY, OPTIMIZER, SNAPSHOTS)
    )
    for name, parameter in policy.parameters.items():
        parameter.data.copy_(parameters[name])
    policy.refresh()
    policy.optimizer.state.clear()
    for key, value in moments.items():
        name, _, moment = key.rpartition("|")
        policy.optimizer.state[policy.parameters[name]][moment] = value
    policy.snapshots = {}
    for version in sorted({int(key.partition("|")[0]) for key in frozen}):
        policy.snapshots[version] = [frozen[f"{version}|{n}"] for n in policy.parameters]
    state = json.loads(files[STATE])
    policy.version = state.pop("version")
    return RunState(**state)


def steps_of(storage: Storage) -> list[int]:
    """The steps of all checkpoints that a storage holds, whole or not, in order."""
    named = (re.fullmatch(r"step-(\d{6,})", name) for name in storage.names())
    return sorted(int(match[1]) for match in named if match)


def _files(policy: Policy, state: RunState) -> Iterator[tuple[str, bytes]]:
    """The files of a checkpoint, made when they are asked for: one at a time is in memory."""
    names = {id(p): name for name, p in policy.parameters.items()}
    yield POLICY, _bytes({n: p.detach() for n, p in policy.parameters.items()})
    moments = {
        f"{names[id(p)]}|{key}": value
        for p, entry in policy.optimizer.state.items()
        for key, value in entry.items()
    }
    yield OPTIMIZER, _bytes(moments)
    frozen = {
        f"{version}|{name}": tensor
        for version, tensors in policy.snapshots.items()
        for name, tensor in zip(policy.parameters, tensors, strict=True)
    }
    yield SNAPSHOTS, _bytes(frozen)
    yield STATE, json.dumps(asdict(state) | {"version": policy.version}).encode()


def _bytes(tensors: Mapping[str, Tensor]) -> bytes:
    whole = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    data: bytes = to_bytes(whole)
    return data


def _tensors(data: bytes, policy: Policy) -> dict[str, Tensor]:
    """The tensors of a safetensors file, on the policy's device."""
    device = next(iter(policy.parameters.values())).device
    return {name: tensor.to(device, copy=True) for name, tensor in from_bytes(data).items()}
