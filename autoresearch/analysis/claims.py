"""Claims: every number of a report as a typed row that says how to recompute it.

`claims_of` is a pure function of a study's facts and its attempt folders. A claim's query names an
entry of `queries.QUERIES` and its arguments; `answer` runs it again. Floats keep twelve
significant digits, so that recomputation gives equal bytes.
"""

import json
from typing import Any, Literal

from pydantic import ConfigDict, Field

from autoresearch.analysis.claim_list import Query, claim_list
from autoresearch.analysis.evidence import Answer, Evidence
from autoresearch.analysis.queries import QUERIES
from autoresearch.analysis.verdicts import Verdict
from autoresearch.study.plan import Plan
from swarm.config.base import Settings

SCHEMA: Literal["autoresearch/claims/v1"] = "autoresearch/claims/v1"
DIGITS = 12
"""Significant digits kept: more than any report prints, fewer than summation order can change."""


class Claim(Settings):
    """One value with its unit, what it rests on and how it is recomputed.

    `outcome` claims follow from the trained policies' run folders and the registered rules,
    `accounting` claims from the ledger. `n` and `interval` are as the query's docstring says.
    """

    id: str
    kind: Literal["outcome", "accounting"]
    value: float | int | str
    unit: str = ""
    n: int | None = None
    interval: tuple[float, float] | None = None
    query: Query
    runs: tuple[str, ...] = ()


class ClaimSet(Settings):
    """What a report says: the registered plan, the verdicts and the claims, in a fixed order."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    format: Literal["autoresearch/claims/v1"] = Field(default=SCHEMA, alias="schema")
    study: str
    topic: str
    registration: str | None
    plan: Plan
    verdicts: tuple[Verdict, ...]
    claims: tuple[Claim, ...]

    def by_id(self) -> dict[str, Claim]:
        """The claims by id."""
        return {claim.id: claim for claim in self.claims}

    def to_json(self) -> str:
        """JSON with one verdict and one claim a line."""
        raw = self.model_dump(mode="json", by_alias=True)
        head = [f'"{key}": {_line(raw[key])}' for key in raw if key not in ("verdicts", "claims")]
        lists = [
            f'"{key}": [\n' + ",\n".join(map(_line, raw[key])) + "\n]"
            for key in ("verdicts", "claims")
        ]
        return "{\n" + ",\n".join([*head, *lists]) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> "ClaimSet":
        """The inverse of `to_json`. Raises ValueError for anything else."""
        return cls.model_validate_json(text)


def claims_of(evidence: Evidence) -> ClaimSet:
    """All claims of a study."""
    facts = evidence.facts
    return ClaimSet(
        study=facts.study,
        topic=facts.topic,
        registration=facts.registration,
        plan=evidence.plan,
        verdicts=tuple(_canonical_verdict(v) for v in evidence.verdicts.values()),
        claims=tuple(
            Claim(
                id=at,
                kind="accounting" if query.name.startswith("accounts.") else "outcome",
                value=_canonical(found.value),
                unit=unit,
                n=found.n,
                interval=_canonical(found.interval),
                query=query,
                runs=found.runs,
            )
            for at, unit, query in claim_list(evidence)
            if (found := answer(evidence, query)).value is not None
        ),
    )


def answer(evidence: Evidence, query: Query) -> Answer:
    """Run a query. Raises KeyError for a name that is not in `queries.QUERIES`."""
    return QUERIES[query.name](evidence, **query.args)


def _canonical_verdict(verdict: Verdict) -> Verdict:
    raw = verdict.model_dump()
    return Verdict.model_validate({key: _canonical(value) for key, value in raw.items()})


def _canonical(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_canonical, value))
    return float(f"{value:.{DIGITS}g}") + 0.0 if isinstance(value, float) else value


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
