"""Claims: every number of a report as a typed row that says how to recompute it.

`compute` is a pure function of a study's facts and its attempt folders. A claim's query names an
entry of `queries.QUERIES` and its arguments; `answer` runs it again. Floats keep twelve
significant digits, so that recomputation gives equal bytes.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from autoresearch.analysis.claim_list import ClaimSpec, claim_list
from autoresearch.analysis.evidence import Answer, Evidence
from autoresearch.analysis.queries import QUERIES
from autoresearch.analysis.verdicts import Verdict
from autoresearch.study.facts import StudyFacts
from autoresearch.study.plan import Plan
from swarm.config.base import JsonValue, Settings

SCHEMA: Literal["autoresearch/claims/v1"] = "autoresearch/claims/v1"
DIGITS = 12
"""Significant digits kept: more than any report prints, fewer than summation order can change."""


class Query(Settings):
    """The name of a query and its keyword arguments."""

    name: str
    args: Mapping[str, JsonValue] = Field(default_factory=dict)


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


def compute(facts: StudyFacts) -> ClaimSet:
    """All claims of a study. Raises ValueError for a study without a plan."""
    return claims_of(Evidence(facts))


def claims_of(evidence: Evidence) -> ClaimSet:
    """`compute` for evidence at hand, whose files are then read once."""
    facts = evidence.facts
    found = (_claim(evidence, row) for row in claim_list(evidence))
    return ClaimSet(
        study=facts.study,
        topic=facts.topic,
        registration=facts.registration,
        plan=evidence.plan,
        verdicts=tuple(_canonical_verdict(v) for v in evidence.verdicts.values()),
        claims=tuple(claim for claim in found if claim is not None),
    )


def answer(evidence: Evidence, query: Query) -> Answer | None:
    """Run a query. Raises KeyError for one that is not in `queries.QUERIES`."""
    return QUERIES[query.name](evidence, **query.args)


def _claim(evidence: Evidence, row: ClaimSpec) -> Claim | None:
    query = Query(name=row.query, args=dict(row.args))
    found = answer(evidence, query)
    if found is None:
        return None
    return Claim(
        id=row.id,
        kind="accounting" if row.query.startswith("accounts.") else "outcome",
        value=_canonical(found.value),
        unit=row.unit,
        n=found.n,
        interval=found.interval and (_rounded(found.interval[0]), _rounded(found.interval[1])),
        query=query,
        runs=found.runs,
    )


def _canonical_verdict(verdict: Verdict) -> Verdict:
    raw = verdict.model_dump()
    return Verdict.model_validate({key: _canonical(value) for key, value in raw.items()})


def _canonical(value: Any) -> Any:
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") + 0.0


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
