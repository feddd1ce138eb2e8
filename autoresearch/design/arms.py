"""Arms: every combination of the treatment levels, the control first."""

import re
from collections.abc import Sequence
from itertools import product

from autoresearch.study.plan import Arm, Factor
from swarm.config.base import JsonValue
from swarm.errors import Refusal

LONGEST = 40
"""Characters of a level kept in an arm's id, so that the id stays usable as a file name."""


def build_arms(factors: Sequence[Factor]) -> tuple[Arm, ...]:
    """The full factorial of the treatment factors; nuisances and blocks make no arms.

    The first arm holds every factor at its control: the level equal to `Factor.control`, or the
    first level where no control is named. The last factor varies fastest. An id such as
    `adv_std-none+lr-0.001` is safe as a file name and unique, also without regard to case. Raises
    Refusal for no treatment, a repeated factor or level, a control that is not a level, and for a
    single arm.
    """
    treatments = [factor for factor in factors if factor.role == "treatment"]
    if not treatments:
        raise Refusal("factors", "no treatment is under test", "give one factor role: treatment")
    names = [factor.name for factor in treatments]
    if len(set(names)) < len(names):
        raise Refusal("factors", "a treatment is listed twice", "join its levels in one factor")
    labelled = [_labelled(factor) for factor in treatments]
    arms = tuple(
        Arm(
            id="+".join(label for label, _ in combination),
            levels=dict(zip(names, (level for _, level in combination), strict=True)),
        )
        for combination in product(*labelled)
    )
    if len(arms) < 2:
        raise Refusal(
            f"factors.{names[0]}.levels", "one level has nothing to differ from", "add a level"
        )
    return arms


def _labelled(factor: Factor) -> list[tuple[str, JsonValue]]:
    """A factor's levels, control first, each with a label that no other level of it has."""
    field = f"factors.{factor.name}"
    levels = [_identity(level) for level in factor.levels]
    if len(set(levels)) < len(levels):
        raise Refusal(f"{field}.levels", "a level is repeated", "list each level once")
    if _identity(factor.control) in levels:
        first = levels.index(_identity(factor.control))
    elif factor.control is None:
        first = 0
    else:
        raise Refusal(
            f"{field}.control", f"{factor.control!r} is not a level", "name one of levels"
        )
    labelled: list[tuple[str, JsonValue]] = []
    taken: set[str] = set()
    for level in (factor.levels[first], *factor.levels[:first], *factor.levels[first + 1 :]):
        stem = label = f"{_safe(factor.name)}-{_safe(_text(level))}"
        count = 1
        while label.casefold() in taken:
            count += 1
            label = f"{stem}-{count}"
        taken.add(label.casefold())
        labelled.append((label, level))
    return labelled


def _identity(level: JsonValue) -> tuple[bool, JsonValue]:
    """What makes a level: True is not 1, while 1.0 is."""
    return isinstance(level, bool), level


def _text(level: JsonValue) -> str:
    """A level as short text: `0.001`, `1e-05`, `2`, `none`, `true`."""
    if level is None or isinstance(level, bool):
        return str(level).lower()
    if isinstance(level, float):
        return repr(level).removesuffix(".0")
    return str(level)


def _safe(text: str) -> str:
    """Letters, digits, `.`, `_` and `-` only, neither empty nor hidden."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)[:LONGEST].strip(".") or "_"
