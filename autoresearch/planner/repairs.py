"""Problems that planning solves itself. Each repair has a name and a note that the plan carries.

`compose` raises `NeedsRepair` at the first; the planning graph repairs the intent and composes
again.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from autoresearch.catalogue import CatalogueFactor, Requirement
from autoresearch.planner.treatments import Treatment
from autoresearch.playbook.schema import PlaybookTuning
from autoresearch.study.intent import AskedFactor, Intent, Repair
from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

_ROLLOUTS = "batch.rollouts"
_GROUP_SIZE = "batch.group_size"


class NeedsRepair(Exception):
    """The plan of this intent could not answer it; `repair` changes the intent so that it can."""

    def __init__(self, repair: Repair) -> None:
        super().__init__(repair.note)
        self.repair = repair


def take_nearest_levels(known: CatalogueFactor, asked: AskedFactor) -> None:
    """Raise NeedsRepair for a number outside the factor's range, Refusal for what is not a
    level."""
    levels = tuple(_nearest(known, level) for level in asked.levels)
    if levels == asked.levels:
        return
    moved = [f"{a} is {b}" for a, b in zip(asked.levels, levels, strict=True) if a != b]
    note = f"{asked.name} goes {known.allowed.removeprefix('give ')}: {', '.join(moved)}"
    unique = tuple(dict.fromkeys(levels))
    if len(unique) < min(2, len(levels)):
        raise Refusal(
            "topic", f"{asked.name}: {', '.join(moved)}, which leaves one level", known.allowed
        )
    control = None if asked.control is None else _nearest(known, asked.control)
    nearest = asked.model_copy(update={"levels": unique, "control": control})
    raise NeedsRepair(
        Repair(name="take the nearest level", about=asked.name, note=note, factor=nearest)
    )


def fit_rollouts(
    fixed: Mapping[str, JsonValue],
    treatments: Sequence[Treatment],
    chosen: Collection[str],
) -> None:
    """Raise NeedsRepair where a group size of the question does not divide the rollouts."""
    held = fixed.get(_GROUP_SIZE, TrainConfig().batch.group_size)
    tested = [v for t in treatments if t.name == "group_size" for v in t.levels]
    sizes = tested or ([held] if _GROUP_SIZE in chosen else [])
    common = math.lcm(*(size for size in sizes if isinstance(size, int) and size > 0))
    asked = fixed.get(_ROLLOUTS)
    rollouts = asked if isinstance(asked, int) else TrainConfig().batch.rollouts
    taken = {path for t in treatments for path in t.factor.paths} | set(chosen)
    if rollouts % common == 0 or _ROLLOUTS in taken:
        return
    fitting = common * max(1, round(rollouts / common))
    raise NeedsRepair(
        Repair(
            name="fit the rollouts to the groups",
            about=_ROLLOUTS,
            note=f"{_ROLLOUTS} {fitting} in every arm, a multiple of every group size",
            settings={_ROLLOUTS: fitting},
        )
    )


def add_requirement(
    treatment: Treatment,
    requirement: Requirement,
    others: Sequence[Treatment],
    chosen: Mapping[str, JsonValue],
) -> None:
    """Raise NeedsRepair with the settings that let a treatment act, or Refusal where these would
    overrule the user or another treatment."""
    taken = set(chosen).union(*(t.factor.paths for t in others))
    settings = listed(requirement.repair)
    if taken & set(requirement.repair):
        raise Refusal(
            "plan",
            f"{requirement.code} {treatment.name} cannot act: {requirement.reason}",
            f"use {settings}",
        )
    raise NeedsRepair(
        Repair(
            name="add a requirement",
            about=f"{treatment.name} {requirement.code}",
            note=f"{requirement.reason}; so {settings} in every arm",
            settings=requirement.repair,
        )
    )


def drop_tuned_factor(spec: PlaybookTuning, intent: Intent) -> str:
    """The note of the repair that stops tuning a factor under test. Raises NeedsRepair for that
    repair until it is made."""
    note = f"{spec.factor} is not tuned: it is part of the treatment"
    repair = Repair(name="drop a tuned factor that is under test", about=spec.factor, note=note)
    if intent.repair(repair.name, repair.about) is None:
        raise NeedsRepair(repair)
    return note


def widen_range(spec: PlaybookTuning, value: JsonValue) -> None:
    """Raise NeedsRepair where the recipe's own value lies outside the tuned range."""
    if not isinstance(value, int | float) or spec.low <= value <= spec.high:
        return
    low, high = min(spec.low, value), max(spec.high, value)
    if spec.log and low <= 0:
        raise Refusal(
            "playbook",
            f"{spec.factor} is tuned on a logarithmic scale, and the recipe's own value is {low:g}",
            "give its tuning log: false, or another recipe",
        )
    note = f"{spec.factor} is tuned from {low:g} to {high:g}, so that the recipe's own is within"
    settings: dict[str, JsonValue] = {"low": low, "high": high}
    raise NeedsRepair(Repair(name="widen a range", about=spec.factor, note=note, settings=settings))


def listed(values: Mapping[str, JsonValue]) -> str:
    """Paths and values in one line."""
    return ", ".join(f"{path} {value}" for path, value in values.items())


def _nearest(known: CatalogueFactor, level: JsonValue) -> JsonValue:
    if known.bounds and isinstance(level, int | float) and not isinstance(level, bool):
        low, high = known.bounds
        level = min(max(level, low), high)
    return known.check(level)
