"""The factor catalogue: what can be put under test, what it sets, and what is known of it."""

from collections.abc import Mapping
from types import MappingProxyType

from autoresearch.catalogue import advantages, objective, optimisation, policy, rollouts
from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement
from swarm.errors import Refusal, did_you_mean

__all__ = [
    "FACTORS",
    "CatalogueFactor",
    "Null",
    "Requirement",
    "factor",
]

#: Every factor by name.
FACTORS: Mapping[str, CatalogueFactor] = MappingProxyType(
    {
        factor.name: factor
        for module in (advantages, objective, optimisation, rollouts, policy)
        for factor in module.FACTORS
    }
)


def factor(name: str) -> CatalogueFactor:
    """The factor of this name. Raises Refusal with the nearest known name."""
    if name not in FACTORS:
        raise Refusal("factor", f"{name!r} is not in the catalogue", did_you_mean(name, FACTORS))
    return FACTORS[name]
