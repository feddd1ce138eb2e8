"""A topic, read whole: what each of its words, numbers and names says, and what nobody takes.

The text is said in the catalogue's words first (`dialects`), then read by one reader after another:
things (models, data, hardware), circumstances (seeds, steps, time, evaluation), paths of a config,
and last the catalogue's names with the numbers that stand by them (`parse`). What is left is judged
here: a number, a name or a side of a comparison that nobody takes refuses the topic; other words
are listed as not used.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autoresearch.topic.aliases import vocabulary
from autoresearch.topic.circumstances import NUMBER_WORDS, Circumstances, circumstances
from autoresearch.topic.dialects import in_own_words
from autoresearch.topic.language import is_english
from autoresearch.topic.methods import refuse_absent
from autoresearch.topic.parse import UNITS, ParsedTopic, parse
from autoresearch.topic.paths import PathNamed, paths_named
from autoresearch.topic.stretches import Text
from autoresearch.topic.things import Things, things
from autoresearch.topic.words import STOP, is_subject, number, words
from swarm.errors import Refusal

#: Words that place a topic in the field: they name nothing that a study could use or leave.
_FIELD_TEXT = """
rl rlhf rlvr llm lm ai ml nlp cot training train trained policy model reward finetuning sampling
rollout reinforcement learning gradient run seed agent reasoning post optimizer ablation ablate
sweep grid study question experiment compare try test check find tell know see want setup baseline
default held step equal update value parameter hyperparameter level loss algorithm method variant
task data divide dividing add adding remove removing raise raising lower lowering increase
increasing decrease decreasing change changing keep apply applying turn hurt harm worth win
"""
FIELD = frozenset(words(_FIELD_TEXT))

_CONTRAST = frozenset({"vs", "versus", "against", "or"})
_ENDS = frozenset(
    [
        "on",
        "with",
        "in",
        "for",
        "at",
        "under",
        "when",
        "using",
        "by",
        "of",
        "over",
        "during",
        "given",
        ",",
        "vs",
        "versus",
        "against",
        "or",
        "and",
        "than",
        "to",
        "from",
        "after",
        "before",
        "while",
        "if",
        "is",
        "are",
        "does",
        "do",
    ]
)
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?%")
_NAME = re.compile(r"[A-Za-z][\w+-]*|\d[\w.+-]*[A-Za-z][\w.+-]*")
_SPOKEN = "|".join(NUMBER_WORDS)
_SPOKEN_NUMBER = re.compile(
    rf"\b({_SPOKEN})(?=(?:\s*(?:,|or|vs\.?|and|to)\s*(?:{_SPOKEN}|\d+))*"
    rf"\s+(?:[a-z]+\s)?(?:{'|'.join(sorted(UNITS))}))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reading:
    """What a topic says. `not_used` are words that no reader took; the text `left` for `parsed` is
    what things, circumstances and paths did not take."""

    things: Things
    circumstances: Circumstances
    paths: tuple[PathNamed, ...]
    parsed: ParsedTopic
    left: str
    not_used: tuple[str, ...]


def read(topic: str, units: Collection[str] = ()) -> Reading:
    """Read a topic. `units` are words behind a number that a parameter of its playbook takes.

    Raises Refusal for a topic that is not English, for a method, setting or value that the trainer
    does not have, and for a number, a name or a side of a comparison that nobody takes.
    """
    if not is_english(topic):
        raise Refusal(
            "topic", "it is not in English", "ask it in English: 'is group size 4 better than 16?'"
        )
    said = _PERCENT.sub(lambda m: f"{float(m[1]) / 100:g}", in_own_words(topic))
    text = Text(said)
    refuse_absent(text)
    paths = tuple(paths_named(text))
    found, course = things(text), circumstances(text)
    left = _SPOKEN_NUMBER.sub(lambda m: str(NUMBER_WORDS[m[1].lower()]), text.left)
    parsed = parse(left)
    _refuse_numbers(parsed, units)
    _refuse_names(parsed, left)
    _refuse_sides(parsed)
    return Reading(found, course, paths, parsed, left, tuple(_not_used(parsed)))


def _refuse_numbers(parsed: ParsedTopic, units: Collection[str]) -> None:
    """Raise Refusal for a number that is nobody's."""
    for place, word in enumerate(parsed.words):
        if number(word) is None or place in parsed.covered or place in parsed.numbers:
            continue
        unit = parsed.words[place + 1] if place + 1 < len(parsed.words) else ""
        if unit in units:
            continue
        said = f"{word} {unit}".strip() if is_subject(unit) else word
        about = ", ".join(parsed.factors) or "no factor"
        raise Refusal(
            "topic",
            f"nothing in it takes the number {said!r} (it is about {about})",
            "say which setting it belongs to, as in 'group size 16', or leave it out",
        )


def _refuse_names(parsed: ParsedTopic, left: str) -> None:
    """Raise Refusal for a name that is nobody's: what has a digit, an underscore or capitals
    inside."""
    known = vocabulary() | FIELD | STOP
    for match in _NAME.finditer(left):
        name = match[0].rstrip("-+")
        parts = [word for word in words(name) if word != ","]
        if number(name.lower()) is not None or not _is_name(name):
            continue
        if all(p in known or number(p) is not None for p in parts):
            continue
        if set(parts) & parsed.covered_words:
            continue
        raise Refusal(
            "topic",
            f"{name!r} names nothing that a study here knows",
            "say it in other words, or leave it out; see: autoresearch playbook list",
        )


def _is_name(word: str) -> bool:
    inner = word[1:].removesuffix("s")
    has_digit = any(letter.isdigit() for letter in word)
    return has_digit or "_" in word or (any(map(str.isupper, inner)) and len(word) > 1)


def _refuse_sides(parsed: ParsedTopic) -> None:
    """Raise Refusal for a side of a comparison of which nobody takes a word."""
    for place, word in enumerate(parsed.words):
        if word not in _CONTRAST:
            continue
        for side in (_run(parsed, place, 1), _run(parsed, place, -1)):
            subject = [p for p in side if is_subject(parsed.words[p])]
            taken = [p for p in side if p in parsed.covered or p in parsed.numbers]
            strange = [p for p in subject if parsed.words[p] not in FIELD | vocabulary()]
            if strange and not taken:
                said = " ".join(parsed.words[p] for p in sorted(side))
                raise Refusal(
                    "topic",
                    f"one side of its comparison is not understood: {said!r}",
                    "name a factor and its levels; see: autoresearch playbook list",
                )


def _run(parsed: ParsedTopic, place: int, step: int) -> list[int]:
    """The places of the words beside a contrast, up to the next that ends a phrase."""
    found = []
    place += step
    while 0 <= place < len(parsed.words) and parsed.words[place] not in _ENDS:
        found.append(place)
        place += step
    return found


def _not_used(parsed: ParsedTopic) -> Iterator[str]:
    """Words that carry a subject and that nobody took, each once."""
    seen: set[str] = set()
    for place, word in enumerate(parsed.words):
        if place in parsed.covered or word in FIELD or not is_subject(word) or word in seen:
            continue
        seen.add(word)
        yield word


def listed(words_: Sequence[str]) -> str:
    """Words in one line, as a plan says them."""
    return ", ".join(repr(word) for word in words_)
