"""Numbers as a topic says them: in digits or words, one value for one thing."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from autoresearch.topic.stretches import Text
from swarm.errors import Refusal

#: Numbers that people write as words before a unit.
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_TO_TWELVE.split(), start=1)},
    **{"a dozen": 12, "fifteen": 15, "twenty": 20, "fifty": 50, "a hundred": 100},
}
Number = TypeVar("Number", int, float)
_WORDS = {word: str(value) for word, value in NUMBER_WORDS.items()}
#: A pattern of a number.
N = rf"(?:\d[\d_,]*(?:\.\d+)?(?:e\d+)?k?|{'|'.join(w.replace(' ', chr(92) + 's') for w in _WORDS)})"


def whole(said: str) -> int:
    """A whole number as people write it: `1,000`, `1k`, `three`. Raises ValueError."""
    text = _WORDS.get(said.lower(), said).replace(",", "").replace("_", "").lower()
    thousand = 1000 if text.endswith("k") else 1
    value = float(text.removesuffix("k")) * thousand
    if not value.is_integer():
        raise ValueError(f"{said} is not a whole number")
    return int(value)


def amount(said: str) -> float:
    """A number of something that need not be whole: `2.5`, `two`, `an`, `half an`."""
    text = said.lower()
    if text.startswith("half"):
        return 0.5
    return 1.0 if text in ("a", "an") else float(_WORDS.get(text, text).replace(",", ""))


def one_of(
    text: Text, pattern: re.Pattern[str], what: str, read: Callable[[str], int]
) -> int | None:
    """The one value of a pattern. Raises Refusal for two that differ."""
    values = {}
    for match in text.take(pattern):
        said = next(match[name] for name in pattern.groupindex if match[name])
        try:
            values[read(said)] = match[0].strip()
        except ValueError as error:
            raise Refusal("topic", str(error), f"give the {what} as a whole number") from None
    return single(values, what)


def single(values: Mapping[Number, str], what: str, least: int = 1) -> Number | None:
    """The one key, each with the words that say it. Raises Refusal for two, and for none at all
    where there must be one or more."""
    if len(values) > 1:
        both = " and ".join(repr(said) for said in values.values())
        raise Refusal("topic", f"it names {both}", f"one study has one value of its {what}")
    if least and 0 in values:
        raise Refusal("topic", f"{values[0]!r} is none", f"give {what} above 0")
    return next(iter(values), None)
