"""What a run's numbers depend on besides its config: versions, the machine, the model, the code."""

import hashlib
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import swarm
from swarm import models, tasks

LIBRARIES = ("torch", "transformers", "peft")


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


def evaluators(refs: Iterable[str]) -> dict[str, str]:
    """The digest of each task's evaluator, under `evaluator.NAME`; the user's own task is `own`."""
    return {
        f"evaluator.{'own' if tasks.is_own(ref) else ref}": tasks.evaluator_digest(ref)
        for ref in refs
    }


def source_digest(root: Path) -> str:
    """sha256 over the names and texts of the Python files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


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
