"""What a plan holds fixed: the playbook's settings, the topic's, the user's, and repairs."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autoresearch.catalogue import Requirement, factor
from autoresearch.planner.treatments import Treatment
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import ProfileSettings
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Factor
from autoresearch.topic.parse import ParsedTopic
from autoresearch.topic.words import canonical, number
from swarm.algorithms import DATA
from swarm.config.base import JsonValue
from swarm.config.paths import check_value, configure
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

#: Paths that have an option of their own.
_OPTIONS: Mapping[str, str] = {
    "seed": "--seed",
    "model.ref": "--model",
    "task.ref": "--task",
    "task.digest": "--task",
}
_PARAMETER = re.compile(r"\$\{([a-z][a-z0-9_-]*)\}")
_PRESET = "algorithm.name"
_OTHER_LEVELS = "ask for other levels, or use --set"


@dataclass(frozen=True)
class FixedSettings:
    """The control arm's config, the factors as the plan holds them, what was done to get there.

    `chosen` are the paths that the topic or the user fixes: nothing may move them.
    """

    train: TrainConfig
    factors: tuple[Factor, ...]
    chosen: frozenset[str]
    notes: tuple[str, ...]


def fix_settings(
    playbook: Playbook,
    profile: ProfileSettings,
    parsed: ParsedTopic,
    treatments: Sequence[Treatment],
    options: StartOptions,
) -> FixedSettings:
    """Fix everything that no treatment varies, and repair what would keep one from acting.

    The user's `--set` wins over the topic, the topic over the profile, that over the playbook.
    Raises Refusal for a setting that does not exist or fit, that is under test, or that keeps a
    factor from acting.
    """
    check_set(options.set, treatments)
    values = _parameters(playbook, parsed)
    fixed: dict[str, JsonValue] = {}
    fixed["model.ref"] = options.model if options.model != "tiny" else playbook.model
    fixed |= substitute({**playbook.train, **profile.train}, values)
    spoken = _spoken(parsed, treatments)
    fixed |= spoken
    fixed |= options.set
    notes = [f"held fixed as the topic says: {_list(spoken)}"] if spoken else []
    repairs, why = _repairs(fixed, treatments, {**spoken, **options.set})
    fixed |= repairs
    notes += why
    for treatment in treatments:
        fixed |= treatment.factor.assign(treatment.control)
    train = configure(TrainConfig(), fixed, "set" if options.set else "playbook")
    return FixedSettings(
        train=train,
        factors=tuple(_factor(t, fixed) for t in treatments),
        chosen=frozenset((*spoken, *options.set)),
        notes=tuple(notes),
    )


def check_set(values: Mapping[str, JsonValue], treatments: Sequence[Treatment]) -> None:
    """Raise Refusal for a `--set` that does not fit, has its own option, or is under test."""
    for path, value in values.items():
        check_value(path, value, "set")
        if path in _OPTIONS:
            raise Refusal("set", f"{path} has an option of its own", f"use {_OPTIONS[path]}")
        for treatment in treatments:
            if path in treatment.factor.paths:
                raise Refusal(
                    "set",
                    f"{path} is under test (factor {treatment.name})",
                    "drop this --set, or ask about another factor",
                )


def substitute(
    values: Mapping[str, JsonValue], parameters: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """The values with `${name}` replaced. Raises Refusal for an unknown parameter."""
    filled: dict[str, JsonValue] = {}
    for path, value in values.items():
        match = _PARAMETER.fullmatch(value) if isinstance(value, str) else None
        if match and match[1] not in parameters:
            raise Refusal("playbook", f"{path} uses {value}, which is no parameter", "declare it")
        filled[path] = parameters[match[1]] if match else value
    return filled


def _parameters(playbook: Playbook, parsed: ParsedTopic) -> dict[str, JsonValue]:
    """Each parameter's value: the topic's number before one of its words, else its default."""
    values: dict[str, JsonValue] = {}
    for name, parameter in playbook.params.items():
        units = {canonical(word) for word in parameter.words}
        typed = [
            number(word)
            for place, (word, unit) in enumerate(pairwise(parsed.words))
            if unit in units and place + 1 not in parsed.covered and number(word) is not None
        ]
        try:
            values[name] = parameter.value(typed[0] if typed and typed[0] else parameter.default)
        except ValueError as error:
            raise Refusal("topic", f"{name}: {error}", "type another number") from None
    return values


def _spoken(parsed: ParsedTopic, treatments: Sequence[Treatment]) -> dict[str, JsonValue]:
    """Settings that the topic holds fixed: `with group size 4`, `in RLOO`."""
    under_test = {path for t in treatments for path in t.factor.paths}
    values: dict[str, JsonValue] = {}
    for named in parsed.fixed:
        values |= factor(named.factor).assign(named.levels[0])
    # GRPO alone is the family's name: the base recipe stands for it.
    if parsed.algorithm and parsed.algorithm != "grpo":
        values |= {_PRESET: parsed.algorithm, "algorithm.kl_coef": 0.0}
    return {path: value for path, value in values.items() if path not in under_test}


def _repairs(
    fixed: Mapping[str, JsonValue],
    treatments: Sequence[Treatment],
    chosen: Mapping[str, JsonValue],
) -> tuple[dict[str, JsonValue], list[str]]:
    """Settings that let every treatment act, and a note for each."""
    repairs, notes = _divisible(fixed, treatments, chosen)
    for treatment in treatments:
        others = [t for t in treatments if t is not treatment]
        for requirement in treatment.factor.requires:
            base = configure(TrainConfig(), {**fixed, **repairs}, "playbook")
            acting = [
                requirement.holds(configure(base, v, "topic", _OTHER_LEVELS))
                for v in _levels(others)
            ]
            if not any(acting):
                _refuse_conflict(treatment, requirement, others, chosen)
                repairs |= requirement.repair
                notes.append(f"{requirement.reason}; so {_list(requirement.repair)} in every arm")
            elif not all(acting):
                notes.append(f"{treatment.name} acts in some arms only: {requirement.reason}")
    return repairs, notes


def _refuse_conflict(
    treatment: Treatment,
    requirement: Requirement,
    others: Sequence[Treatment],
    chosen: Mapping[str, JsonValue],
) -> None:
    """Raise Refusal where a repair would overrule the user or another treatment."""
    taken = set(chosen).union(*(t.factor.paths for t in others))
    if taken & set(requirement.repair):
        raise Refusal(
            "plan",
            f"{requirement.code} {treatment.name} cannot act: {requirement.reason}",
            f"use {_list(requirement.repair)}",
        )


def _levels(treatments: Sequence[Treatment]) -> list[dict[str, JsonValue]]:
    """The paths of every level of every treatment; of none, one empty set."""
    return [t.factor.assign(level) for t in treatments for level in t.levels] or [{}]


def _divisible(
    fixed: Mapping[str, JsonValue],
    treatments: Sequence[Treatment],
    chosen: Mapping[str, JsonValue],
) -> tuple[dict[str, JsonValue], list[str]]:
    """Rollouts that every group size divides, near those asked for."""
    sizes = [v for t in treatments if t.name == "group_size" for v in t.levels]
    common = math.lcm(*(size for size in sizes if isinstance(size, int)))
    asked = fixed.get("batch.rollouts")
    rollouts = asked if isinstance(asked, int) else TrainConfig().batch.rollouts
    taken = {path for t in treatments for path in t.factor.paths} | set(chosen)
    if rollouts % common == 0 or "batch.rollouts" in taken:
        return {}, []
    fitting = common * max(1, round(rollouts / common))
    note = f"batch.rollouts {fitting} in every arm, a multiple of every group size"
    return {"batch.rollouts": fitting}, [note]


def _factor(treatment: Treatment, fixed: Mapping[str, JsonValue]) -> Factor:
    """The plan's factor. A preset resets `algorithm`, and what any preset sets of `data`, so its
    level restates what is fixed."""
    plan_factor = treatment.factor.treatment(treatment.levels, treatment.control)
    if _PRESET not in treatment.factor.sets:
        return plan_factor
    reset = {f"data.{name}" for fields in DATA.values() for name in fields}
    pinned = {
        p: v
        for p, v in fixed.items()
        if p != _PRESET and (p.startswith("algorithm.") or p in reset)
    }
    values = {str(level): {_PRESET: level, **pinned} for level in treatment.levels}
    return plan_factor.model_copy(update={"values": values}) if pinned else plan_factor


def _list(values: Mapping[str, JsonValue]) -> str:
    return ", ".join(f"{path} {value}" for path, value in values.items())
