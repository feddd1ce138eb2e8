"""How large a model is, from the headers of its weight files alone."""

import json
import math
from pathlib import Path

from swarm.errors import ModelUnavailable
from swarm.models.sources import find, weight_files

#: A header's length stands in the first eight bytes (the safetensors format).
_HEAD = 8


def parameters(ref: str) -> int | None:
    """How many parameters a model has; None for one that is not on this machine, or whose headers
    cannot be read. Reads no weights."""
    try:
        folder = find(ref).folder()
        return None if folder is None else sum(map(_counted, _files(folder)))
    except (ModelUnavailable, OSError, ValueError, LookupError, TypeError):
        return None


def _files(folder: Path) -> list[Path]:
    return [folder / name for name in weight_files(folder)]


def _counted(path: Path) -> int:
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(_HEAD), "little")))
    header.pop("__metadata__", None)
    return sum(math.prod(tensor["shape"]) for tensor in header.values())
