"""Names of factors, levels and metrics, found in the words of a topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from autoresearch.catalogue import FACTORS
from autoresearch.catalogue.factor import phrases
from autoresearch.study.metrics import METRICS
from autoresearch.topic.words import number, words
from swarm.config.base import JsonValue


@dataclass(frozen=True)
class Alias:
    """Words and what they name. A weak alias counts only near another name of its factor."""

    words: tuple[str, ...]
    factor: str = ""
    level: JsonValue = None
    metric: str = ""
    weak: bool = False
    symbol: bool = False


@dataclass(frozen=True)
class Mention:
    """An alias in a topic, from word `start` up to word `end`."""

    start: int
    end: int
    alias: Alias


def vocabulary() -> frozenset[str]:
    """Every word that names a factor, a level or a metric."""
    return frozenset(word for alias in aliases() for word in alias.words)


@cache
def aliases() -> tuple[Alias, ...]:
    """All aliases, longest first; among equals strong before weak."""
    found = [
        Alias(tuple(words(alias)), metric=metric.name)
        for metric in METRICS.values()
        for alias in metric.aliases
    ]
    for known in FACTORS.values():
        found += [Alias(name, known.name) for name in _phrases(known.aliases)]
        for level, names in known.words.items():
            found += [Alias(name, known.name, level) for name in _phrases(names)]
        for level, names in known.hints.items():
            found += [Alias(name, known.name, level, weak=True) for name in _phrases(names)]
        found += [Alias(tuple(words(s)), known.name, symbol=True) for s in known.symbols]
    return tuple(sorted(found, key=lambda a: (-len(a.words), a.weak, a.symbol)))


@cache
def _units(alias: Alias) -> frozenset[str]:
    """Words that may stand between a factor's name and its number."""
    known = FACTORS[alias.factor].units if alias.factor and alias.level is None else ()
    return frozenset(word for unit in known for word in words(unit))


def _phrases(names: str) -> list[tuple[str, ...]]:
    return [tuple(words(phrase)) for phrase in phrases(names)]


def find_mentions(text: Sequence[str]) -> list[Mention]:
    """The aliases in a text, in order of appearance. A longer one takes its words before others."""
    taken = [False] * len(text)
    found = []
    for alias in aliases():
        width = len(alias.words)
        for start in range(len(text) - width + 1):
            end = start + width
            if tuple(text[start:end]) != alias.words or any(taken[start:end]):
                continue
            if alias.symbol and not (end < len(text) and number(text[end]) is not None):
                continue
            if (
                end + 1 < len(text)
                and text[end] in _units(alias)
                and number(text[end + 1]) is not None
            ):
                end += 1  # `lr warmup steps 10`
            taken[start:end] = [True] * (end - start)
            found.append(Mention(start, end, alias))
    return sorted(found, key=lambda m: m.start)
