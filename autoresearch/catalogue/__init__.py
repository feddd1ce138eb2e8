"""The factor catalogue: what can be put under test, what it sets, and what is known of it."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement
from autoresearch.catalogue.path_factor import PathFactor, path_factor
from swarm.config.base import JsonValue
from swarm.errors import Refusal, did_you_mean

__all__ = [
    "FACTORS",
    "THEMES",
    "CatalogueFactor",
    "Null",
    "PathFactor",
    "Requirement",
    "factor",
    "name_of",
]

#: The files beside this one that hold factors.
THEMES = (
    "advantages",
    "objective",
    "optimisation",
    "rollouts",
    "policy",
)

#: Every factor by name.
FACTORS: Mapping[str, CatalogueFactor] = MappingProxyType(
    {
        factor.name: factor
        for theme in THEMES
        for factor in import_module(f"{__name__}.{theme}").FACTORS
    }
)


def factor(name: str) -> CatalogueFactor:
    """The factor of this name, or of any path of a TrainConfig: `optim.beta2`, `task.args.shaped`.
    Raises Refusal with the nearest known name."""
    if name in FACTORS:
        return FACTORS[name]
    if "." in name:
        return path_factor(name, _of_path(name))
    raise Refusal("factor", f"{name!r} is not in the catalogue", did_you_mean(name, FACTORS))


def name_of(named: str, levels: Sequence[JsonValue]) -> str:
    """What a study calls the factor that the user named so: a path goes by its name in the
    catalogue where that allows these levels. Raises Refusal for an unknown one."""
    known = _of_path(named)
    if known is None:
        return factor(named).name
    try:
        for level in levels:
            known.check(level)
    except Refusal:
        return factor(named).name
    return known.name


def _of_path(path: str) -> CatalogueFactor | None:
    """The catalogue's factor that sets this path alone, a value a level."""
    alone = (known for known in FACTORS.values() if known.sets == (path,) and not known.values)
    return next(alone, None)
