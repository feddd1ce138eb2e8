"""What a ref names: a built-in family, the user's rows or code, a mixture, a reward's function."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from swarm.disk.user_paths import expanded

#: Files of rows, and code.
DATA_SUFFIXES, CODE_SUFFIX = (".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".csv"), ".py"

#: The ref of a task whose prompts come from `task.sources`.
MIXTURE = "mixture"

#: What a hub id begins with once it is told from a folder.
HUB = "hf:"

#: `owner/name` or, with a configuration of the data set, `owner/name/config`.
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*){1,2}")

#: The one reward of a task whose code brings its own.
OWN_REWARD = "own"

#: A reward from here on counts as correct where the user names no true metric.
CORRECT_FROM = 1.0


@dataclass(frozen=True)
class OwnRef:
    """The user's own: a file or folder of rows (`path`), a data set on the hub (`hub`, its id), or
    the function in a Python file."""

    path: Path
    function: str | None = None
    hub: str = ""

    def __str__(self) -> str:
        if self.hub:
            return HUB + self.hub
        return f"{self.path}:{self.function}" if self.function else str(self.path)


def own_ref(ref: str) -> OwnRef | None:
    """What of the user's a ref names; None for a built-in's name and for a mixture. What has a
    slash and no known suffix is a folder, or a hub id where it looks like one and there is no such
    folder."""
    if ref.startswith(HUB):
        return OwnRef(Path(ref), hub=ref.removeprefix(HUB))
    if code := code_ref(ref):
        return code
    if ref.endswith(DATA_SUFFIXES):
        return OwnRef(Path(ref))
    if "/" not in ref:
        return None
    is_folder = "\0" in ref or os.path.isdir(expanded(Path(ref)))  # noqa: PTH112
    if _HUB_ID.fullmatch(ref) and not is_folder:
        return OwnRef(Path(ref), hub=ref)
    return OwnRef(Path(ref))


def code_ref(ref: str) -> OwnRef | None:
    """The function that `file.py:name` names; None for anything else."""
    file, colon, function = ref.rpartition(":")
    return OwnRef(Path(file), function) if colon and file.endswith(CODE_SUFFIX) else None


def absolute(ref: str, folder: Path) -> str:
    """The ref of a task or of a reward with its path made absolute from `folder`; the name of
    something built in stays as it is, and what is no folder there but looks like a hub id becomes
    `hf:…`."""
    if "\0" in ref:  # no path holds that; such a file is not there
        return ref
    own = own_ref(ref)
    if own is None or ref.startswith(HUB):
        return ref
    path = os.path.realpath(folder / expanded(own.path))  # of links in a circle, too
    if own.hub and not os.path.isdir(path):  # noqa: PTH112
        return str(own)
    return str(OwnRef(Path(path), own.function))
