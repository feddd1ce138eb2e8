"""How large a model is, from the headers of its weight files alone."""

import math

from swarm.errors import ModelUnavailable
from swarm.models.sources import find, weight_files


def parameters(ref: str) -> int | None:
    """How many parameters a model has; None for one that is not on this machine, or whose headers
    cannot be read. Reads no weights."""
    from safetensors import SafetensorError, safe_open  # numpy

    counted = 0
    try:
        folder = find(ref).folder()
        if folder is None:
            return None
        for name in weight_files(folder):
            with safe_open(folder / name, framework="numpy") as file:
                shapes = [file.get_slice(tensor).get_shape() for tensor in file.keys()]  # noqa: SIM118
            counted += sum(map(math.prod, shapes))
    except (ModelUnavailable, OSError, SafetensorError):
        return None
    return counted
