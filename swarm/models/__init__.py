"""Where a base model comes from.

A ref (`model.ref`, `--model`) is a name from `names()`, a local folder in Hugging Face format, or a
hub id `org/name`. All functions here work without torch and raise ModelUnavailable for
a ref that leads to no model.
"""

from pathlib import Path

from swarm.models.sources import NAMES, Description, Hub, find


def names() -> tuple[str, ...]:
    """The models that can be had without a hub."""
    return NAMES


def check(ref: str) -> None:
    """Raise unless the model is there, or will be fetched at its first use. Takes milliseconds, but
    for a hub id that is not cached: then the hub is asked."""
    find(ref).check()


def folder(ref: str) -> Path | None:
    """The model's folder in Hugging Face format; None where it is not on this machine yet."""
    return find(ref).folder()


def ensure(ref: str) -> Path:
    """The model's folder. A hub model is fetched first; `smollm2-135m-instruct` must have been
    added by the user."""
    return find(ref).ensure()


def loadable(ref: str) -> str:
    """What other tools on this machine take for that model: its folder, absolute, or its hub id."""
    found = find(ref)
    return ref if isinstance(found, Hub) else str(found.ensure().absolute())


def describe(ref: str) -> Description:
    """Name, digest and provenance: what enters a run's fingerprint. A local folder is hashed, a hub
    model fetched first."""
    return find(ref).describe()
