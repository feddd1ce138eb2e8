"""What a run's numbers depend on besides its config: versions, the machine, the model, the code."""

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import swarm
from swarm import models, tasks
from swarm.config.parts import HELD_OUT_REF
from swarm.config.train import TrainConfig

LIBRARIES = ("torch", "transformers", "peft")

#: What is noted and decides no number: a kernel's release, how many cores lie idle.
NOTED = frozenset({"platform", "cores"})


def run_fingerprint(
    model: str, refs: Iterable[str], threads: int, libraries: Iterable[str] = LIBRARIES
) -> dict[str, Any]:
    """Versions, machine, threads, and what the model and the code are. `evaluator.NAME` hashes the
    code that judges answers to a task (see `tasks.evaluator_digest`), `trainer` the whole
    trainer's."""
    described = models.describe(model)
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in libraries},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": threads,
        "model": f"{described['name']}, {described['provenance']}",
        "model_digest": described["digest"],
        **evaluators(refs),
        "trainer": source_digest(Path(swarm.__file__).parent),
    }


def attempt_fingerprint(config: TrainConfig, device: str) -> dict[str, Any]:
    """What this process trains under: `run_fingerprint`, the device, and what torch makes of the
    processor. Equal ones repeat a run bit for bit on a CPU."""
    import torch

    cuda = device.startswith("cuda")
    return {
        **run_fingerprint(config.model.ref, judged(config), torch.get_num_threads()),
        "device": torch.cuda.get_device_name() if cuda else device,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }


def judged(config: TrainConfig, tasks_of: Iterable[str] = ()) -> tuple[str, ...]:
    """The refs of all tasks whose answers are judged: of training, by default the config's, and of
    evaluation sets."""
    sets = (each.ref for each in config.evaluation.sets if each.ref != HELD_OUT_REF)
    return tuple(dict.fromkeys((*(tasks_of or (config.task.ref,)), *sets)))


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:
    """`{name: [was, now]}` of the entries that decide numbers and differ; None if one lacks it."""
    names = sorted((was.keys() | now.keys()) - NOTED)
    pairs = {name: [was.get(name), now.get(name)] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def told(differing: Mapping[str, Sequence[Any]]) -> str:
    """The differences in one line; of digests the first characters."""
    pairs = (f"{name} {_short(was)} → {_short(now)}" for name, (was, now) in differing.items())
    return ", ".join(pairs)


def evaluators(refs: Iterable[str]) -> dict[str, str]:
    """The digest of each task's evaluator, under `evaluator.NAME`; the user's own task is `own`."""
    named = (*tasks.names(), tasks.MIXTURE)
    return {
        f"evaluator.{ref if ref in named else 'own'}": tasks.evaluator_digest(ref) for ref in refs
    }


def source_digest(root: Path) -> str:
    """sha256 over the names and texts of the Python files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _short(value: Any) -> str:
    text = "unknown" if value is None else str(value)
    return text[:12] if re.fullmatch(r"[0-9a-f]{40,}", text) else text


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
