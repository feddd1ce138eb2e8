"""How the claims of two studies differ: verdicts, outcomes over several runs, rules and settings.

Text, costs and the outcomes of single runs are not compared.
"""

from dataclasses import dataclass
from typing import Literal

from autoresearch.analysis.claims import Claim, ClaimSet
from autoresearch.report.claims_in_text import interval, value

Kind = Literal["flipped", "moved", "changed", "added", "lost"]
ORDER: tuple[Kind, ...] = ("flipped", "moved", "changed", "added", "lost")
OF_ONE_RUN = ("seed", "label")
RULES = ("rule.", "setting.", "study.model", "study.tasks")


@dataclass(frozen=True)
class Change:
    """One difference: a verdict flipped, an outcome moved beyond the earlier interval, a rule or
    setting changed, a claim added or lost."""

    kind: Kind
    claim: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        if self.kind in ("added", "lost"):
            return f"{self.kind}: {self.claim} {self.after or self.before}"
        return f"{self.kind}: {self.claim} from {self.before} to {self.after}"


def diff(a: ClaimSet, b: ClaimSet) -> list[Change]:
    """The changes from `a` to `b`, the gravest kind first, else in the order of the claims."""
    before, after = _compared(a), _compared(b)
    changes = [
        Change("lost", name, before=_text(before[name])) for name in before if name not in after
    ]
    for name, claim in after.items():
        if name not in before:
            changes.append(Change("added", name, after=_text(claim)))
        elif (kind := _kind(before[name], claim)) is not None:
            changes.append(Change(kind, name, _text(before[name]), _text(claim)))
    return sorted(changes, key=lambda change: ORDER.index(change.kind))


def _compared(claims: ClaimSet) -> dict[str, Claim]:
    return {
        claim.id: claim
        for claim in claims.claims
        if (claim.kind == "outcome" and not any(key in claim.query.args for key in OF_ONE_RUN))
        or claim.id.startswith(RULES)
    }


def _kind(before: Claim, after: Claim) -> Kind | None:
    if before.query.name == "outcomes.verdict":
        return "flipped" if before.value != after.value else None
    if before.kind == "accounting":
        return "changed" if before.value != after.value else None
    if isinstance(after.value, str) or before.interval is None:
        return None
    low, high = before.interval
    return None if low <= after.value <= high else "moved"


def _text(claim: Claim) -> str:
    return f"{value(claim)} {interval(claim)}" if claim.interval else value(claim)
