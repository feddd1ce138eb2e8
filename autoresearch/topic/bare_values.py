"""What the bare value of a level may be called beside a name of its factor: `baseline none`."""

from collections.abc import Mapping
from functools import cache

from autoresearch.catalogue import FACTORS
from autoresearch.catalogue.factor import phrases
from autoresearch.topic.words import words
from swarm.config.base import JsonValue

Value = tuple[tuple[str, ...], JsonValue]
"""Words, and the level that they say."""

_NOTHING = ("none", "off", "disabled", "not at all", "neither", "nothing")


@cache
def values(factor: str) -> tuple[Value, ...]:
    """What a bare value may be called: a choice's own names and words, and `none` of a number."""
    known = FACTORS[factor]
    found: list[Value] = []
    if known.kind == "choice":
        found += (*choices(factor), *names(factor))
    rest = off(factor)
    if rest is not None:
        found += [(tuple(words(said)), rest) for said in _NOTHING]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


#: Levels that are none of a factor, though they are not called so.
_RESTS: Mapping[str, JsonValue] = {"curriculum": "uniform"}


@cache
def choices(factor: str) -> tuple[Value, ...]:
    known = FACTORS[factor]
    levels = known.choices if known.kind == "choice" else ()
    return tuple((tuple(words(str(level))), level) for level in levels)


@cache
def names(factor: str) -> tuple[Value, ...]:
    known = FACTORS[factor]
    said = [*known.words.items(), *known.hints.items()]
    return tuple((tuple(words(each)), level) for level, text in said for each in phrases(text))


def off(factor: str) -> JsonValue:
    """The level that means none of a factor; None where there is none."""
    zero = 0.0 if FACTORS[factor].kind == "float" else 0
    found = next((level for level in ("none", zero) if _takes(factor, level)), None)
    return _RESTS.get(factor) if found is None else found


def _takes(factor: str, level: JsonValue) -> bool:
    known = FACTORS[factor]
    if known.kind == "choice":
        return level in known.choices
    low = known.bounds[0] if known.bounds else 1
    return known.kind in ("int", "float") and level != "none" and low <= 0
