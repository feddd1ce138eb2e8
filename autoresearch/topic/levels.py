"""Which words and numbers of a topic are levels of which factor.

A number belongs to the factor that it stands by: by its unit (`50 steps` of SFT), by the name right
behind it (`16 completions per prompt`), else by the name before it, as long as nothing else comes
between. A choice's level may be said by its bare value beside a name of its factor (`baseline none
vs group`), and a contrast may leave out what its sides share (`forward vs reverse KL`).
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile

from autoresearch.catalogue import FACTORS
from autoresearch.topic.aliases import Mention, aliases
from autoresearch.topic.bare_values import choices, names, off, values
from autoresearch.topic.field import FIELD
from autoresearch.topic.words import STOP, canonical, number, words
from swarm.config.base import JsonValue
from swarm.errors import Refusal

#: Words between the levels of one factor.
LIST = frozenset({",", "vs", "versus", "and", "or", "than", "to", "against", "over"})
#: Words after a number that is not a level of any factor: `5 seeds`.
UNITS = frozenset(
    words(
        """
        seeds steps cores hours minutes seconds days tasks runs rollouts gpus cpus tokens samples
        prompts updates epochs studies papers percent times models completions generations answers
        responses episodes versions passes minibatches iterations
        """
    )
)
#: Words that numbers may stand behind besides names, numbers and function words.
_BEFORE = STOP | frozenset({"sweep", "grid", "range", "value", "ablation", "level"})
#: Prepositions that begin something new: after a name, and after a number.
_APART = frozenset({"in", "for", "over", "within", "during", "by", "on", "every", "per"})
_APART_FROM_NUMBER = _APART | {"with", "at", "under", "using", "after", "when"}
#: What may stand between a factor and the bare value of a level.
#: Behind these a number with a word of its own is no further level: `16 and 37 parsnips`.
_WEAK_JOINS = frozenset({"and", ","})
_COMPARES = frozenset({"vs", "versus", "or", "than", "to", "against"})
_CONTRASTS = frozenset({"vs", "versus", "than", "against"})
_SKIP = LIST | frozenset(
    {"a", "an", "the", "of", "is", "from", "between", "either", "in", "as", "on", "beat", "beats"}
    | {"turned", "switched", "turn", "switch", "set", "being", "kept"}
)
_WITHOUT = frozenset({"no", "without"})


@dataclass(frozen=True)
class Spoken:
    """A level of a factor that its bare value names, from word `start` up to word `end`."""

    start: int
    end: int
    factor: str
    level: JsonValue


def number_owners(
    text: Sequence[str], mentions: Sequence[Mention], strong: Sequence[str]
) -> dict[int, str]:
    """The factor of each number that is a level, by the number's place."""
    numeric = [
        m
        for m in mentions
        if m.alias.factor in strong and FACTORS[m.alias.factor].kind in ("int", "float")
    ]
    covered = {i for m in mentions for i in range(m.start, m.end)}
    measured = {m.end for m in mentions if m.alias.metric}
    found: dict[int, str] = {}
    for place, word in enumerate(text):
        if number(word) is None or place in covered or place in measured or not numeric:
            continue
        before = text[place - 1] if place else "is"
        stands = place - 1 in covered or not _is_strange(before)
        if not stands and not any(m.start == place + 1 for m in numeric):
            continue
        owner = _owner(text, numeric, covered, found, place)
        if owner:
            found[place] = owner
    return found or _lone_list(text, numeric, covered)


def _lone_list(
    text: Sequence[str], numeric: Sequence[Mention], covered: Set[int]
) -> dict[int, str]:
    """`the best rank for RL out of 1, 4 and 16`: the one list of a topic belongs to its one factor,
    wherever it stands."""
    names = {m.alias.factor for m in numeric}
    places = [p for p, word in enumerate(text) if number(word) is not None and p not in covered]
    listed = len(places) > 1 and all(
        all(word in LIST for word in text[one + 1 : other]) for one, other in pairwise(places)
    )
    if len(names) != 1 or not listed:
        return {}
    (factor,) = names
    unit = _unit_behind(text, places[0])
    return {} if unit in UNITS - _units(factor) else dict.fromkeys(places, factor)


def _owner(
    text: Sequence[str],
    numeric: Sequence[Mention],
    covered: Set[int],
    found: Mapping[int, str],
    place: int,
) -> str | None:
    after = text[place + 1] if place + 1 < len(text) and place + 1 not in covered else ""
    named = next((m.alias.factor for m in numeric if m.end == place), None)
    if after in UNITS:
        counted = _counted(after, numeric, place)
        return counted or (named if named and not FACTORS[named].units else None)
    if named:
        return named
    if _is_strange(after) and text[place - 1] in _WEAK_JOINS:
        return None
    earlier = [m for m in numeric if m.end <= place]
    later = [m for m in numeric if m.start > place]
    if earlier and later and later[0].start == place + 1:
        before = text[place - 1]
        new = before not in LIST or (before == "," and not _has_own(text, later[0]))
        if new and number(before) is None and earlier[-1].end != place:
            return later[0].alias.factor
    if earlier:
        if _stands_by(text, covered, found, place):
            return earlier[-1].alias.factor
        return _counted(_unit_behind(text, place), numeric, place)
    if not later:
        return None
    unit = _unit_behind(text, place)
    if unit in UNITS and unit not in later[0].alias.words:
        return _counted(unit, numeric, place)
    between = text[place + 1 : later[0].start]
    if between[-1:] == (",",):  # something new begins
        return None
    joined = all(w in STOP or w in UNITS or number(w) is not None for w in between)
    return later[0].alias.factor if joined else None


def _has_own(text: Sequence[str], mention: Mention) -> bool:
    """Whether a number stands behind a name: `rank 4, 16, 64 alpha fixed at 32`."""
    behind = takewhile(lambda word: word != ",", text[mention.end : mention.end + 3])
    return any(number(word) is not None for word in behind)


def _counted(unit: str, numeric: Sequence[Mention], place: int) -> str | None:
    """The nearest factor that is counted in this unit."""
    mine = [m for m in numeric if unit in _units(m.alias.factor)]
    return min(mine, key=lambda m: abs(m.start - place)).alias.factor if mine else None


def _unit_behind(text: Sequence[str], place: int) -> str:
    """The word behind the list of numbers that this one is in: `0, 50 and 100 steps`."""
    while place < len(text) and (number(text[place]) is not None or text[place] in LIST):
        place += 1
    return text[place] if place < len(text) else ""


def _stands_by(
    text: Sequence[str], covered: Set[int], found: Mapping[int, str], place: int
) -> bool:
    """Whether nothing new begins between a number and the name or level before it."""
    back = place - 1
    while back >= 0 and back not in covered and back not in found:
        back -= 1
    between = text[back + 1 : place]
    if back in found and between and between[-1] in _CONTRASTS:
        return True  # `lr 1e-4 in GRPO vs 1e-3`
    if len(between) > 1 and between[-1] in _APART_FROM_NUMBER and between[-2] in _COMPARES:
        between = between[:-1]  # `at 0.1 rather than at 1`
    apart = _APART if back in covered else _APART_FROM_NUMBER
    return not any(word in apart or _is_strange(word) for word in between)


def _is_strange(word: str) -> bool:
    """Whether a word has a subject of its own that the field does not share."""
    known = word in STOP or word in FIELD or word in UNITS
    return bool(word) and not known and number(word) is None


@cache
def _units(factor: str) -> frozenset[str]:
    return frozenset(canonical(unit) for unit in FACTORS[factor].units)


def spoken_levels(
    text: Sequence[str], mentions: Sequence[Mention], numbers: Mapping[int, str], factor: str
) -> list[Spoken]:
    """The levels that bare values beside a factor's names and levels say, in no order."""
    taken = {i for m in mentions for i in range(m.start, m.end) if not _may_yield(m, factor)}
    mine = [m for m in mentions if m.alias.factor == factor]
    spans = [(m.start, m.end, text[m.start : m.end]) for m in mine]
    spans += [(place, place + 1, ()) for place, owner in numbers.items() if owner == factor]
    found: dict[int, Spoken] = {}
    for start, end, said in sorted(spans):
        for level in (
            *_rightwards(text, end, factor, taken),
            *_leftwards(text, start, said, factor, taken),
        ):
            found.setdefault(level.start, level)
    return list(found.values())


def as_level(mention: Mention, text: Sequence[str]) -> JsonValue:
    """`batch std or group std`: a factor's name that is one of its levels' too, beside others."""
    beside = {
        *text[max(mention.start - 1, 0) : mention.start],
        *text[mention.end : mention.end + 1],
    }
    if mention.alias.level is not None or not beside & LIST:
        return None
    return next(
        (
            each.level
            for each in aliases()
            if each.factor == mention.alias.factor
            and each.weak
            and each.words == mention.alias.words
        ),
        None,
    )


def left_out(text: Sequence[str], mentions: Sequence[Mention], factor: str) -> list[Spoken]:
    """`no curriculum`, `without the filter`: the level of a factor that is none of it. Raises
    Refusal where there is none. `with and without` asks for the usual levels."""
    found = []
    for mention in mentions:
        if mention.alias.factor != factor or mention.alias.level is not None:
            continue
        place = mention.start - 1
        while place > 0 and text[place] in ("a", "an", "the"):
            place -= 1
        if place < 0 or text[place] not in _WITHOUT or "with" in text[max(place - 2, 0) : place]:
            continue
        level = off(factor)
        if level is None:
            said = " ".join(text[place : mention.end])
            raise Refusal(
                "topic", f"{said!r}: no level of {factor} is none", FACTORS[factor].allowed
            )
        found.append(Spoken(place, mention.start, factor, level))
    return found


def _may_yield(mention: Mention, factor: str) -> bool:
    """A weak name of some other factor, or one that only says a level, may be this one's value."""
    alias = mention.alias
    return alias.weak and alias.factor != factor


def _rightwards(text: Sequence[str], place: int, factor: str, taken: Set[int]) -> Iterator[Spoken]:
    """`baseline none vs group`, `TIS vs none`, `lr schedule: cosine, linear`."""
    joined = True  # a value right behind a name, else one that a list joins
    while place < len(text):
        fits = _value_at(text, place, factor, taken) if joined else None
        if fits:
            yield fits
            place, joined = fits.end, False
        elif text[place] in _SKIP or text[place] in UNITS:
            joined = joined or text[place] in LIST
            place += 1
        else:
            return


def _leftwards(
    text: Sequence[str], place: int, said: Sequence[str], factor: str, taken: Set[int]
) -> Iterator[Spoken]:
    """`forward vs reverse KL`, `token-level vs sequence-level loss`: what stands before a contrast
    lacks the words that it shares with the other side."""
    place -= 1
    joined = False
    while place >= 0:
        if joined and (fits := _value_ending(text, place, said, factor, taken)):
            yield fits
            place, joined = fits.start - 1, False
        elif text[place] in LIST:
            joined = True
            place -= 1
        else:
            return


def _value_at(text: Sequence[str], place: int, factor: str, taken: Set[int]) -> Spoken | None:
    for name, level in values(factor):
        end = place + len(name)
        if tuple(text[place:end]) == name and not taken & set(range(place, end)):
            return Spoken(place, end, factor, level)
    return None


def _value_ending(
    text: Sequence[str], place: int, said: Sequence[str], factor: str, taken: Set[int]
) -> Spoken | None:
    shortened = [
        (name[: -len(shared)], level)
        for name, level in (*names(factor), *choices(factor))
        for shared in _tails(said)
        if len(name) > len(shared) and name[-len(shared) :] == shared
    ]
    for name, level in (*values(factor), *shortened):
        start = place + 1 - len(name)
        fits = start >= 0 and tuple(text[start : place + 1]) == name
        if fits and not taken & set(range(start, place + 1)):
            return Spoken(start, place + 1, factor, level)
    return None


def _tails(said: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(said[i:]) for i in range(len(said)) if i or len(said) == 1]
