"""What a study's numbers depend on besides its plan: versions, the machine, the code."""

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swarm import models, tasks

LIBRARIES = ("torch", "transformers", "peft", "ray", "scipy", "statsmodels", "optuna")

#: One trial computes on one thread, whatever machine it runs on.
THREADS_PER_TRIAL = 1


def fingerprint(model: str) -> dict[str, Any]:
    """The `fingerprint` record: versions, machine, threads, and what the model and the code are.

    `evaluator` hashes the code of the tasks and their rewards, `trainer` the whole trainer's.
    """
    described = models.describe(model)
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": THREADS_PER_TRIAL,
        "model": f"{described['name']}, {described['provenance']}",
        "model_digest": described["digest"],
        "evaluator": tasks.code_digest(),
        "trainer": source_digest("swarm"),
    }


def source_digest(package: str) -> str:
    """sha256 over the names and texts of a package's Python files."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    root = Path(spec.origin).parent
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
