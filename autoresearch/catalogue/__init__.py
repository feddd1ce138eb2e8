"""The factor catalogue: what can be put under test, what it sets, and what is known of it."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement
from swarm.errors import Refusal, did_you_mean

__all__ = [
    "FACTORS",
    "THEMES",
    "CatalogueFactor",
    "Null",
    "Requirement",
    "factor",
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
    """The factor of this name. Raises Refusal with the nearest known name."""
    if name not in FACTORS:
        raise Refusal("factor", f"{name!r} is not in the catalogue", did_you_mean(name, FACTORS))
    return FACTORS[name]
