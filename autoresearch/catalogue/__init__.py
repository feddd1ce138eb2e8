"""The factor catalogue: what can be put under test, what it sets, and what is known of it."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement
from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean

__all__ = [
    "FACTORS",
    "THEMES",
    "CatalogueFactor",
    "Contrast",
    "Null",
    "Requirement",
    "contrast",
    "factor",
    "nulls",
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

#: A run of two small steps: enough to tell whether a factor acts.
_PROBE: Mapping[str, JsonValue] = MappingProxyType(
    {
        "steps": 2,
        "batch.rollouts": 32,
        "batch.group_size": 4,
        "optim.lr": 5e-3,
        "evaluation.every": 2,
        "evaluation.prompts": 8,
        "checkpoint_every": 2,
    }
)


class Contrast(NamedTuple):
    """Two configs that differ in one factor; `exact_null` when they must train to equal weights."""

    a: TrainConfig
    b: TrainConfig
    exact_null: bool


def factor(name: str) -> CatalogueFactor:
    """The factor of this name. Raises Refusal with the nearest known name."""
    if name not in FACTORS:
        raise Refusal("factor", f"{name!r} is not in the catalogue", did_you_mean(name, FACTORS))
    return FACTORS[name]


def contrast(name: str) -> Contrast:
    """Two small configs, requirements met, at levels of `name` that train apart.

    A replicate factor sets nothing; its contrast is an exact null. Raises Refusal for an unknown
    name.
    """
    known = factor(name)
    base = _probe(known)
    for requirement in known.requires:
        if not requirement.holds(base):
            base = base.with_values(requirement.repair)
    return _contrast(known, base, known.probe or known.pair, known.kind == "replicate")


def nulls(name: str) -> tuple[Contrast, ...]:
    """The documented exact nulls of a factor, as pairs of small configs."""
    known = factor(name)
    return tuple(
        _contrast(known, _probe(known).with_values(null.settings), null.levels, True)
        for null in known.nulls
    )


def _probe(known: CatalogueFactor) -> TrainConfig:
    values = dict(_PROBE)
    if known.task:
        values |= {"task.ref": known.task, "sampling.max_tokens": 32}
    return TrainConfig().with_values(values)


def _contrast(
    known: CatalogueFactor, base: TrainConfig, levels: tuple[JsonValue, JsonValue], null: bool
) -> Contrast:
    a, b = (base.with_values(known.assign(level)) for level in levels)
    return Contrast(a, b, null)
