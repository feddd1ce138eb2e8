"""Settings that a topic names by their path in a TrainConfig: `optim.eps 1e-8 vs 1e-5`."""

import re
from dataclasses import dataclass
from functools import cache

from autoresearch.topic.levels import UNITS
from autoresearch.topic.stretches import Text
from autoresearch.topic.words import number
from swarm.config.base import JsonValue
from swarm.config.checked import check_path, check_value, known_paths
from swarm.errors import Refusal

_VALUE = re.compile(
    r"(?<![^\s,/])(?!(?:vs|versus|or|and|than|to|against)\b)[^\s,/]+", re.IGNORECASE
)
_FREE = r"task\.args\.\w+|task\.sources\.\w+\.weight"
_AND = r"(?:\s*,\s*|\s*/\s*|\s+(?:vs\.?|versus|or|and|than|to|against)\s+|\s+)"


@dataclass(frozen=True)
class PathNamed:
    """A path and the levels behind it, in the topic's order."""

    path: str
    levels: tuple[JsonValue, ...]


def paths_named(text: Text) -> list[PathNamed]:
    """Take paths and their values out of a topic. One that is named twice is one. Raises Refusal
    for what looks like a path and is none, with the nearest."""
    found: dict[str, tuple[JsonValue, ...]] = {}
    for match in list(_pattern().finditer(text.left)):
        path, end = match["path"], match.end("path")
        levels: list[JsonValue] = []
        for said in _VALUE.finditer(match["values"] or ""):
            level = _value(path, said[0])
            if levels and not _fits(path, level):
                break  # `algorithm.ratio token vs sequence, 4 minibatches`
            levels.append(level)
            end = match.start("values") + said.end()
        text.blank(match.start(), end)
        found[path] = tuple(dict.fromkeys((*found.get(path, ()), *levels)))
    for match in _UNKNOWN.finditer(text.left):
        check_path(match[0], "topic")
    return [PathNamed(path, levels) for path, levels in found.items()]


#: What looks like a path: a part of the config, a dot and a name.
_UNKNOWN = re.compile(
    rf"(?<![\w./])(?:{'|'.join(sorted({p.split('.')[0] for p in known_paths() if '.' in p}))})"
    r"\.[a-z_][\w.]*\w(?!\w)"
)


@cache
def _pattern() -> re.Pattern[str]:
    dotted = sorted((p for p in known_paths() if "." in p), key=len, reverse=True)
    paths = "|".join([*map(re.escape, dotted), _FREE])
    bare = r"[a-z]\w*\b(?!\.\w)"
    told = rf"(?<=[=:])\s*{bare}|(?<=\bvs\s){bare}|(?<=\bor\s){bare}"
    units = "|".join(sorted(UNITS))
    counted = rf"(?!\s+(?:{units})(?:e?s)?\b)"
    word = rf"(?:true|false|null|[a-z]+_[a-z_]+|-?\d[\w.+-]*(?![\w.+-]){counted}|{told})"
    first = rf"(?:{word}|[a-z]\w*(?=\s+(?:vs\.?|versus|or)\s))"
    return re.compile(
        rf"(?<![\w.])(?P<path>{paths})(?![\w.])\s*[=:]?\s*(?P<values>{first}(?:{_AND}{word})*)?"
    )


@cache
def _may_be_zero(path: str) -> bool:
    return _fits(path, 0)


def _fits(path: str, level: JsonValue) -> bool:
    try:
        check_value(path, level, "topic")
    except Refusal:
        return False
    return True


def _value(path: str, said: str) -> JsonValue:
    """A value; `none` of a number that may be 0 is 0."""
    known = {"true": True, "false": False, "null": None}
    said = said.strip().strip(".,;?!")
    if said in ("none", "off") and _may_be_zero(path):
        return 0
    if said in known:
        return known[said]
    read = number(said.lower())
    return said if read is None else read
