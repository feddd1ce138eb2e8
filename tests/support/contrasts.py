"""Pairs of small configs that differ in one factor of the catalogue."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from autoresearch.catalogue import CatalogueFactor, factor
from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig

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
