"""References from text to claims, and the check that text holds no number of its own.

{{c.ID}}    the value of claim ID      {{ci.ID}}   its interval      {{n.ID}}   its n
{{v.H1}}    a hypothesis' verdict      {{dir.H1}}  `higher`, `lower` or `equal`
{{raw.ID}}  a text value as it is, for code blocks
"""

import re
from collections.abc import Mapping

from autoresearch.analysis.claims import Claim
from autoresearch.report.numbers import show

REFERENCE = re.compile(r"\{\{\s*(?P<kind>[a-z]+)\.(?P<id>[^\s{}]+)\s*\}\}")

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
"""Words that state which arm is ahead: a text has them from `{{dir.H1}}` or not at all."""


class NarrativeError(Exception):
    """A text that says what no claim says: an unknown reference, a number, a direction."""


def fill(text: str, claims: Mapping[str, Claim]) -> str:
    """The text with every reference replaced. Raises NarrativeError for one that is unknown."""
    bare = REFERENCE.sub("", text)
    if "{{" in bare:
        raise NarrativeError(f"a malformed reference: {_near(bare, '{{')!r}")
    return REFERENCE.sub(lambda match: _resolve(match["kind"], match["id"], claims), text)


def literal(text: str) -> str:
    """Text of the plan for use in a template: never a reference, no Markdown table breaks."""
    return _escaped(text).replace("{{", "&#123;&#123;")


def check(text: str, claims: Mapping[str, Claim]) -> None:
    """Raise NarrativeError unless every number and direction of a text is a reference.

    Any numeral of any script counts, in code and links too, and so do number words.
    """
    fill(text, claims)
    bare = REFERENCE.sub(" ", text)
    for character in bare:
        if character.isnumeric():
            raise NarrativeError(
                f"a numeral that is no reference to a claim: {_near(bare, character)!r}"
            )
    for kind, pattern in (("number word", NUMBER_WORD), ("direction", DIRECTION_WORD)):
        if found := pattern.search(bare):
            raise NarrativeError(f"a {kind} that is no reference to a claim: {found[0]!r}")


def interval(claim: Claim) -> str:
    """`[low, high]`; `unknown` for a claim without an interval."""
    if claim.interval is None:
        return "unknown"
    low, high = (show(bound, claim.unit, signed=_signed(claim)) for bound in claim.interval)
    return f"[{low}, {high}]"


def value(claim: Claim) -> str:
    """A claim's value, rounded; texts are escaped for Markdown tables."""
    shown = show(claim.value, claim.unit, signed=_signed(claim))
    return _escaped(shown) if isinstance(claim.value, str) else shown


def _resolve(kind: str, name: str, claims: Mapping[str, Claim]) -> str:
    target = {"v": f"{name}.verdict", "dir": f"{name}.direction"}.get(kind, name)
    claim = claims.get(target)
    if claim is None:
        raise NarrativeError(f"{{{{{kind}.{name}}}}}: there is no claim {target!r}")
    if kind in ("c", "v", "dir"):
        return value(claim)
    if kind == "ci":
        return interval(claim)
    if kind == "n" and claim.n is not None:
        return show(claim.n, "")
    if kind == "raw":
        return " ".join(str(claim.value).split())
    raise NarrativeError(f"{{{{{kind}.{name}}}}}: claim {target!r} has no {kind!r}")


def _signed(claim: Claim) -> bool:
    return claim.query.name == "outcomes.effect"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _near(text: str, part: str) -> str:
    at = text.index(part)
    return " ".join(text[max(0, at - 20) : at + 20].split())
