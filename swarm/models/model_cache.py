"""The folder of models that were made on this machine, and making one only once."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from swarm.disk.user_paths import expanded, home_folder
from swarm.errors import ModelUnavailable

WEIGHTS = "model.safetensors"


def cache_folder() -> Path:
    """Where made models are kept: `SWARM_CACHE`, or `AUTORESEARCH_CACHE` as it was called before,
    else `~/.cache/autoresearch`, where models lie that were made before. Raises ModelUnavailable
    where there is no home either."""
    named = os.environ.get("SWARM_CACHE") or os.environ.get("AUTORESEARCH_CACHE")
    if named:
        return expanded(named)
    home = home_folder()
    if home is None:
        raise ModelUnavailable("there is no home to keep models in", "set SWARM_CACHE to a folder")
    return home / ".cache" / "autoresearch"


def is_made(target: Path) -> bool:
    """Whether the model is there, its weights as long as their header says. What cannot be read is
    not there."""
    weights = target / WEIGHTS
    try:
        with weights.open("rb") as file:
            head = file.read(8)
            size = int.from_bytes(head, "little")
            tensors = json.loads(file.read(size) if size < weights.stat().st_size else b"")
        tensors.pop("__metadata__", None)
        ends = [tensor["data_offsets"][1] for tensor in tensors.values()]
        return weights.stat().st_size == len(head) + size + max(ends, default=0)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def make_once(target: Path, make: Callable[[Path], None]) -> Path:
    """`target`; `make(scratch)` writes the model first if it is not there.

    Of several processes one makes it and the others wait. `target` appears whole or not at all:
    a failed `make` leaves nothing but a lock file, a killed one a scratch folder that the next
    call removes.
    """
    if is_made(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.partial")
    with FileLock(target.with_name(f".{target.name}.lock")):
        if is_made(target):
            return target
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            make(scratch)
            shutil.rmtree(target, ignore_errors=True)
            scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target
