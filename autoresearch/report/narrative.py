"""The check that a text takes every number and every direction from a claim."""

import re

NUMBER_WORD = re.compile(
    r"\b(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(twen|thir|for|"
    r"fif|six|seven|eigh|nine)ty|hundreds?|thousands?|[mb]illions?|dozens?|hal(f|ves?|ved|ving)|"
    r"thirds?|quarters?|fourths?|fifths?|tenths?|once|twice|thrice|doubl(es?|ed|ing)|tripl(es?|ed|"
    r"ing)|quadrupl(es?|ed|ing)|\w+fold|percent(age)?s?)\b",
    re.IGNORECASE,
)
"""Words that state a quantity. `first` and `second` order a text and are left out."""

DIRECTION_WORD = re.compile(
    r"\b(higher|lower|better|worse|greater|(in|de)creas(es?|ed|ing)|improv(es?|ed|ing|ements?)|"
    r"outperform(s|ed|ing)?|beats?|raise[sd]?|reduce[sd]?|rises?|rose|falls?|fell|gain(s|ed)?)\b",
    re.IGNORECASE,
)
"""Words that state which arm is ahead: only a claim may say them."""


class NarrativeError(Exception):
    """A text states a number or a direction that does not come from a claim."""


def check(bare: str) -> None:
    """Raise NarrativeError if a text without its claims still states a number or a direction.

    Numerals of any script count, in code and links too, and so do number words.
    """
    for at, character in enumerate(bare):
        if character.isnumeric():
            near = " ".join(bare[max(0, at - 20) : at + 20].split())
            raise NarrativeError(f"a numeral that is no claim's: {near!r}")
    for kind, pattern in (("number word", NUMBER_WORD), ("direction", DIRECTION_WORD)):
        if found := pattern.search(bare):
            raise NarrativeError(f"a {kind} that is no claim's: {found[0]!r}")
