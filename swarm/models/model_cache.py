"""The folder of models that were made on this machine, and making one only once."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

WEIGHTS = "model.safetensors"


def cache_folder() -> Path:
    """Where made models are kept: `SWARM_CACHE`, or `AUTORESEARCH_CACHE` as it was called before,
    else `~/.cache/autoresearch`, where models lie that were made before."""
    named = os.environ.get("SWARM_CACHE") or os.environ.get("AUTORESEARCH_CACHE")
    return Path(named or Path.home() / ".cache" / "autoresearch")


def is_made(target: Path) -> bool:
    return (target / WEIGHTS).exists()


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
