"""The functions by which a template prints claims."""

from collections.abc import Callable, Iterable

from autoresearch.analysis.claims import Claim
from autoresearch.report.narrative import check
from autoresearch.report.numbers import show


class MissingClaim(ValueError):
    """A text names a claim that the study does not make."""

    def __init__(self, claim: str, lacking: str = "") -> None:
        problem = f"has no {lacking}" if lacking else "is not one that the study makes"
        super().__init__(f"claim {claim!r} {problem}")
        self.claim = claim


class Known(dict[str, Claim]):
    """Claims by id. An id without a claim raises MissingClaim."""

    def __missing__(self, name: str) -> Claim:
        raise MissingClaim(name)

    def made_by(self, query: str) -> list[Claim]:
        """The claims that one query answers."""
        return [claim for claim in self.values() if claim.query.name == query]


class References:
    """What a template calls; each function takes the id of a claim."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._bare = False

    def claim(self, name: str) -> str:
        """Its value, rounded by its unit."""
        return self._printed(value(self._known[name]))

    def interval(self, name: str) -> str:
        """Its interval."""
        return self._printed(interval(self._known[name]))

    def n(self, name: str) -> str:
        """Its n."""
        n = self._known[name].n
        if n is None:
            raise MissingClaim(name, "n")
        return self._printed(show(n, ""))

    def code(self, name: str) -> str:
        """Its text as it is, for code blocks and links."""
        return self._printed(" ".join(str(self._known[name].value).split()))

    def narrative(self, caller: Callable[[], str]) -> str:
        """A passage whose numbers and directions are claims. Raises NarrativeError for others."""
        self._bare = True
        check(caller())
        self._bare = False
        return caller()

    def _printed(self, text: str) -> str:
        """The text, or a blank while a passage is checked without its claims."""
        return " " if self._bare else text


def interval(claim: Claim) -> str:
    """`[low, high]`; `unknown` for a claim without an interval."""
    if claim.interval is None:
        return "unknown"
    low, high = (show(bound, claim.unit, signed=_signed(claim)) for bound in claim.interval)
    return f"[{low}, {high}]"


def value(claim: Claim) -> str:
    """A claim's value, rounded; texts are escaped for Markdown tables."""
    shown = show(claim.value, claim.unit, signed=_signed(claim))
    return escaped(shown) if isinstance(claim.value, str) else shown


def in_cell(value: object) -> str:
    """A value on one line, fit for a cell of a table: code in it, too, would end at a bare `|`."""
    return " ".join(str(value).split()).replace("|", "\\|")


def escaped(text: str) -> str:
    """A text that is fit for a cell and does not begin HTML."""
    return in_cell(text).replace("<", "&lt;")


def literal(text: str) -> str:
    """A text of the plan, escaped. Reports have always written two opening braces as entities."""
    return escaped(text).replace("{{", "&#123;&#123;")


def quoted(texts: Iterable[str]) -> str:
    """A list of names in code."""
    return ", ".join(f"`{text}`" for text in texts)


def _signed(claim: Claim) -> bool:
    return claim.query.name == "outcomes.effect"
