"""What no reader of a topic took: judged at the end, so that nothing is answered in its place.

A number, a name or a side of a comparison that nobody takes refuses the topic. Other words are
listed as not used; where they outweigh what is understood, the topic is refused for them.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from autoresearch.topic.aliases import vocabulary
from autoresearch.topic.field import FIELD
from autoresearch.topic.levels import UNITS
from autoresearch.topic.parse import ParsedTopic
from autoresearch.topic.words import STOP, is_subject, number, words
from swarm.errors import Refusal, closest

_SEE = "name a setting and its values; see: autoresearch playbook list"
_CONTRAST = frozenset({"vs", "versus", "against", "or"})
#: What asks for combinations.
_CROSSED_TEXT = "x cross crossed interact interaction depend both each jointly together combined"
_CROSSED = frozenset(_CROSSED_TEXT.split())
#: Contrasts of which each side must say something: `or` also asks `does it help or hurt`.
_STRICT = _CONTRAST - {"or"}
_ENDS_TEXT = """
on with in for at under when using by of over during given , vs versus against or and than to
from after before while if is are does do beat beats better worse
"""
_ENDS = frozenset(_ENDS_TEXT.split())
#: What stands between the numbers of a list, and how many words of a name are told.
_LISTED = frozenset({"vs", "versus", "or", "and", ",", "of", "than", "to"})
_WORDS = 4
#: How alike a misspelt word must be.
_SPELLING = 0.88
_NEAR = 0.75
#: What ends a whole side, with all that is said of it.
_BREAKS = _CONTRAST | {",", "and", "than", "is", "are", "does", "do", "beat", "beats"}
#: What a side may begin with: `KL in the loss vs in the reward`.
_OPENS = frozenset({"with", "in", "at", "on", "for", "under", "using"})
_NAME = re.compile(r"[^\W\d_](?:[\w+-]|\.(?=\w))*|\d[\w.+-]*[^\W\d_][\w.+-]*")


def refuse_numbers(
    parsed: ParsedTopic, units: Collection[str], paths: Collection[str] = ()
) -> None:
    """Raise Refusal for a number that is nobody's. `units` are words behind a number that a
    parameter of a playbook takes, `paths` those that the topic names."""
    for place, word in enumerate(parsed.words):
        if number(word) is None or place in parsed.covered or place in parsed.numbers:
            continue
        unit = parsed.words[place + 1] if place + 1 < len(parsed.words) else ""
        if unit in units:
            continue
        counted = is_subject(unit) and place + 1 not in parsed.covered
        said = " ".join(parsed.spelled[_start(parsed, place) : place + (2 if counted else 1)])
        held = (named.factor for named in parsed.fixed)
        about = ", ".join((*parsed.factors, *held, *paths))
        raise Refusal(
            "topic",
            f"nothing in it takes the number {said!r} (it is about {about or 'no factor'})",
            _meant(parsed)
            or "say which setting it belongs to, as in 'group size 16', or leave it out",
        )


def _start(parsed: ParsedTopic, place: int) -> int:
    """Where the words begin that say what a number is of, so that it is refused by its name: over
    the numbers that it is listed with."""
    while place and (parsed.words[place - 1] in _LISTED or number(parsed.words[place - 1])):
        place -= 1
    start = place
    while start and place - start < _WORDS:
        if parsed.words[start - 1] in _BREAKS or start - 1 in parsed.numbers:
            break
        start -= 1
    while start < place and not is_subject(parsed.words[start]):
        start += 1
    return start


def refuse_levels(parsed: ParsedTopic) -> None:
    """Raise Refusal for `lr 1e-4 vs lr 1e-4`, where nothing else differs, and for `kl 0 vs 0.01,
    higher temperature`: no usual levels join a comparison that has its own."""
    said = (*parsed.treatments, *parsed.fixed)
    compared = [each for each in said if len(each.levels) > 1]
    for each in said if not compared else ():
        typed = [place for place in parsed.numbers if parsed.claims[place] == each.factor]
        if len(typed) > 1 and _CONTRAST & set(parsed.words[min(typed) : max(typed)]):
            problem = f"both sides of its comparison are {each.factor} {each.levels[0]}"
            raise Refusal("topic", problem, "name two values")
    bare = [each for each in parsed.treatments if not each.levels]
    if compared and bare and not _CROSSED & set(parsed.words):
        raise Refusal(
            "topic",
            f"it compares {compared[0].factor}, and names {bare[0].factor} without a value",
            f"say at which value it is held: 'with {bare[0].words} …', or ask how they interact",
        )


def refuse_names(parsed: ParsedTopic, left: str) -> None:
    """Raise Refusal for a name that is nobody's: what has a digit, an underscore or capitals
    inside."""
    known = vocabulary() | FIELD | STOP | UNITS
    for match in _NAME.finditer(left):
        name = match[0].rstrip("-+")
        parts = [word for word in words(name) if word != ","]
        if number(name.lower()) is not None or not _is_name(name):
            continue
        if all(p in known or number(p) is not None for p in parts):
            continue
        if set(parts) & parsed.covered_words:
            continue
        raise Refusal("topic", f"{name!r} names nothing that a study here knows", _SEE)


def _meant(parsed: ParsedTopic) -> str:
    """The word of the catalogue that a word which nobody took is likely to be; empty for none."""
    for place, word in enumerate(parsed.words):
        unknown = is_strange(parsed, place) and word not in vocabulary()
        if unknown and (near := closest(word, vocabulary(), cutoff=_NEAR)):
            return f"did you mean {near[0]!r} for {parsed.spelled[place]!r}?"
    return ""


def _is_name(word: str) -> bool:
    inner = word[1:].removesuffix("s")
    has_digit = any(letter.isdigit() for letter in word)
    return has_digit or "_" in word or (any(map(str.isupper, inner)) and len(word) > 1)


def refuse_sides(parsed: ParsedTopic) -> None:
    """Raise Refusal for a side of a comparison that is not understood: with a word that nobody
    takes, with nothing that anybody takes, or with an algorithm against a setting."""
    for place, word in enumerate(parsed.words):
        if word not in _CONTRAST:
            continue
        left, right = _run(parsed, place, -1), _run(parsed, place, 1)
        with_or_without = place > 0 and parsed.words[place - 1] == "with"
        for side in (right,) if with_or_without else (left, right):
            if _is_understood(parsed, side, strict=word in _STRICT):
                continue
            said = " ".join(parsed.spelled[p] for p in sorted(side)) or word
            problem = f"one side of its comparison is not understood: {said!r}"
            raise Refusal("topic", problem, _meant(parsed) or _SEE)
        _refuse_alike(parsed, left, right, word)
        if not with_or_without:
            _refuse_unlike(
                parsed, _run(parsed, place, -1, _BREAKS), _run(parsed, place, 1, _BREAKS)
            )
    for chunk in _middles(parsed):
        if not _is_understood(parsed, chunk, strict=False):
            said = " ".join(parsed.spelled[p] for p in chunk)
            raise Refusal("topic", f"one of what it lists is not understood: {said!r}", _SEE)


def _is_understood(parsed: ParsedTopic, side: Sequence[int], *, strict: bool) -> bool:
    if any(is_strange(parsed, p) for p in side):
        return False
    wide = (
        p for place in (min(side, default=0), max(side, default=0)) for p in _beside(parsed, place)
    )
    taken = [p for p in (*side, *wide) if p in parsed.covered or p in parsed.numbers]
    return bool(taken) or not strict


def _beside(parsed: ParsedTopic, place: int) -> list[int]:
    """A side with all that is said of it: `DPO on pairs from the policy itself`."""
    before = _run(parsed, place, -1, _BREAKS)
    return [*before, *_run(parsed, place, 1, _BREAKS)]


def is_strange(parsed: ParsedTopic, place: int) -> bool:
    """Whether a word has a subject that no reader took and that the field does not share."""
    word = parsed.words[place]
    if place in parsed.covered or not is_subject(word) or len(word) == 1:
        return False
    owns = parsed.spelled[place].lower().endswith("'s")  # Schulman's k3
    return not owns and word not in FIELD and word not in UNITS and not _is_misspelt(word)


@cache
def _is_misspelt(word: str) -> bool:
    """Whether it is a word without a meaning of its own, but for a letter."""
    return len(word) > 4 and bool(closest(word, STOP | FIELD, cutoff=_SPELLING))


def _refuse_alike(
    parsed: ParsedTopic, left: Sequence[int], right: Sequence[int], word: str
) -> None:
    """Refuse `high KL vs low KL`: one factor on both sides, and a level on neither."""
    sides = [{parsed.claims[p] for p in side if p in parsed.claims} for side in (left, right)]
    said = any(place in parsed.levels for place in (*left, *right))
    if word in _STRICT and sides[0] == sides[1] and len(sides[0]) == 1 and not said:
        (factor,) = sides[0]
        raise Refusal("topic", f"both sides of its comparison name {factor}, and no value", _SEE)


def _refuse_unlike(parsed: ParsedTopic, left: Sequence[int], right: Sequence[int]) -> None:
    kinds = [{parsed.claims[p] for p in side if p in parsed.claims} for side in (left, right)]
    for one, other in (kinds, reversed(kinds)):
        if one == {"algorithm"} and other and "algorithm" not in other:
            setting = min(other)
            raise Refusal(
                "topic",
                f"it compares an algorithm with a setting ({setting})",
                f"ask about {setting} alone, or compare algorithms",
            )


def _run(parsed: ParsedTopic, place: int, step: int, ends: Collection[str] = _ENDS) -> list[int]:
    """The places of the words beside a contrast, up to the next that ends a phrase. What a name or
    a level covers is whole."""
    found: list[int] = []
    place += step
    while 0 <= place < len(parsed.words):
        at_end = parsed.words[place] in ends and place not in parsed.covered
        if at_end and (found or parsed.words[place] not in _OPENS):
            break
        if not at_end:
            found.append(place)
        place += step
    return found


def _middles(parsed: ParsedTopic) -> Iterator[list[int]]:
    """Parts of a list that stand between two levels: `GRPO, X and RLOO`."""
    chunks: list[list[int]] = [[]]
    for place, word in enumerate(parsed.words):
        if word in {",", "and", "or", "vs", "versus"}:
            chunks.append([])
        else:
            chunks[-1].append(place)
    for before, chunk, after in zip(chunks, chunks[1:], chunks[2:], strict=False):
        ends = [_factor_of(parsed, before[-1:]), _factor_of(parsed, after[:1])]
        if chunk and ends[0] and ends[0] == ends[1]:
            yield chunk


def _factor_of(parsed: ParsedTopic, places: Sequence[int]) -> str:
    return parsed.claims.get(places[0], "") if places else ""


def refuse_outweighed(parsed: ParsedTopic, not_used: Sequence[str], taken: int) -> None:
    """Raise Refusal where a factor is named, but two or more words are not used and they are more
    than those that readers took out of the topic (`taken`) and that name factors or levels."""
    if parsed.treatments and len(not_used) > max(
        1, taken + len(parsed.covered) + len(parsed.numbers)
    ):
        raise Refusal(
            "topic",
            f"most of it is not understood: {', '.join(not_used)}",
            f"ask about {parsed.factors[0] if parsed.factors else 'a factor'} alone, or in words "
            "of the catalogue; see: autoresearch playbook list",
        )


def not_used(parsed: ParsedTopic) -> Iterator[str]:
    """Words that carry a subject and that nobody took, as the user wrote them, each once."""
    seen: set[str] = set()
    for place, word in enumerate(parsed.words):
        if is_strange(parsed, place) and word not in seen:
            seen.add(word)
            yield parsed.spelled[place]


def is_paired(parsed: ParsedTopic) -> bool:
    """Whether a comparison's sides differ in two factors at once: `GRPO at lr 1e-4 vs RLOO at lr
    1e-3`."""
    for place, word in enumerate(parsed.words):
        if word in _STRICT:
            before = {parsed.claims[p] for p in range(place) if p in parsed.claims}
            run = {parsed.claims[p] for p in _run(parsed, place, 1) if p in parsed.claims}
            if len(run & before) > 1:
                return True
    return False
