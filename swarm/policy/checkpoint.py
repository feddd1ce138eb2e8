"""Checkpoints: all that a run needs to go on, valid only once their manifest exists.

    step-000020/
      policy.safetensors      the trained parameters
      optimizer.safetensors   AdamW's moments and steps, by parameter name
      snapshots.safetensors   frozen versions still needed (reference, staleness)
      state.json              version, wall seconds, the difficulty sampler's figures
      manifest.json           sha256 of each, written last

Prompts, draws and schedules are functions of seed, step and these, so no RNG state is kept.
"""

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from swarm.policy.policy import Policy
from swarm.runfolder import write_atomically

POLICY, OPTIMIZER, SNAPSHOTS = (
    "policy.safetensors",
    "optimizer.safetensors",
    "snapshots.safetensors",
)
STATE, MANIFEST = "state.json", "manifest.json"
FILES = frozenset({POLICY, OPTIMIZER, SNAPSHOTS, STATE})


@dataclass(frozen=True)
class RunState:
    """Where a run stands beside its tensors. `signal` is what its difficulty sampler has seen."""

    step: int
    wall: float
    signal: dict[str, dict[str, float]] = field(default_factory=dict)


def save(folder: Path, policy: Policy, state: RunState, *, keep: int = 2) -> Path:
    """Write a checkpoint below `folder` and drop all but the newest `keep`."""
    target = folder / f"step-{state.step:06d}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    names = {id(p): name for name, p in policy.parameters.items()}
    moments = {
        f"{names[id(p)]}|{key}": value
        for p, entry in policy.optimizer.state.items()
        for key, value in entry.items()
    }
    frozen = {
        f"{version}|{name}": tensor
        for version, tensors in policy.snapshots.items()
        for name, tensor in zip(policy.parameters, tensors, strict=True)
    }
    _write(target / POLICY, {n: p.detach() for n, p in policy.parameters.items()})
    _write(target / OPTIMIZER, moments)
    _write(target / SNAPSHOTS, frozen)
    write_atomically(
        target / STATE,
        json.dumps(asdict(state) | {"version": policy.version}),
    )
    hashes = {name: _sha256(target / name) for name in FILES}
    write_atomically(target / MANIFEST, json.dumps(hashes, indent=0, sort_keys=True))
    for old in sorted(folder.glob("step-*"))[:-keep]:
        shutil.rmtree(old)
    return target


def newest(folder: Path) -> Path | None:
    """The newest valid checkpoint below `folder`: one whose every file matches its manifest."""
    for candidate in sorted(folder.glob("step-*"), reverse=True):
        if _is_valid(candidate):
            return candidate
    return None


def load(checkpoint: Path, policy: Policy) -> RunState:
    """Put a checkpoint's weights, moments and snapshots into `policy`."""
    device = str(next(iter(policy.parameters.values())).device)
    parameters = load_file(checkpoint / POLICY, device)
    for name, parameter in policy.parameters.items():
        parameter.data.copy_(parameters[name])
    policy.optimizer.state.clear()
    for key, value in load_file(checkpoint / OPTIMIZER, device).items():
        name, _, field = key.rpartition("|")
        policy.optimizer.state[policy.parameters[name]][field] = value
    policy.snapshots = {}
    frozen = load_file(checkpoint / SNAPSHOTS, device)
    for version in sorted({int(key.partition("|")[0]) for key in frozen}):
        policy.snapshots[version] = [frozen[f"{version}|{n}"] for n in policy.parameters]
    state = json.loads((checkpoint / STATE).read_text())
    policy.version = state.pop("version")
    return RunState(**state)


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    save_file({n: t.contiguous().clone() for n, t in tensors.items()}, path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _is_valid(checkpoint: Path) -> bool:
    manifest = checkpoint / MANIFEST
    if not manifest.exists():
        return False
    try:
        hashes: dict[str, str] = json.loads(manifest.read_text())
    except ValueError:
        return False
    return hashes.keys() == FILES and all(
        (checkpoint / name).exists() and _sha256(checkpoint / name) == digest
        for name, digest in hashes.items()
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
