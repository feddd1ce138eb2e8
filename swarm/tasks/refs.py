"""What a task ref names: a built-in family, `data.jsonl`, or `file.py:make`."""

import os
from dataclasses import dataclass
from pathlib import Path

from swarm.disk.user_paths import expanded

DATA_SUFFIX, CODE_SUFFIX = ".jsonl", ".py"

#: The one reward of a task whose code brings its own.
OWN_REWARD = "own"


#: A reward from here on counts as correct where the user names no true metric.
CORRECT_FROM = 1.0


@dataclass(frozen=True)
class OwnRef:
    """The user's files: rows alone, or the function in a Python file that makes the task."""

    path: Path
    function: str | None

    def __str__(self) -> str:
        return f"{self.path}:{self.function}" if self.function else str(self.path)


def own_ref(ref: str) -> OwnRef | None:
    """The user's files that a ref names; None for a built-in's name."""
    if ref.endswith(DATA_SUFFIX):
        return OwnRef(Path(ref), None)
    file, colon, function = ref.rpartition(":")
    if colon and file.endswith(CODE_SUFFIX):
        return OwnRef(Path(file), function)
    return None


def absolute(ref: str, folder: Path) -> str:
    """The ref with its path made absolute from `folder`; a built-in's name stays as it is."""
    own = own_ref(ref)
    if own is None or "\0" in ref:  # no path holds that; such a file is not there
        return ref
    path = os.path.realpath(folder / expanded(own.path))  # of links in a circle, too
    return str(OwnRef(Path(path), own.function))
