"""Claims come out of their queries, the same every time."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.synthetic_study import Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet, answer
from autoresearch.analysis.evidence import Evidence
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


def test_every_claim_comes_out_of_its_query(facts: StudyFacts) -> None:
    evidence = Evidence(facts)
    for claim in compute(facts).claims:
        found = answer(evidence, claim.query)
        assert found is not None
        value = found.value
        assert claim.value == (pytest.approx(value) if isinstance(value, float) else value)
        assert (claim.n, claim.runs) == (found.n, found.runs)


def test_computing_again_gives_equal_bytes(facts: StudyFacts) -> None:
    text = compute(facts).to_json()
    assert compute(facts).to_json() == text
    again = ClaimSet.from_json(text)
    assert again.to_json() == text
    assert again == compute(facts)


def test_a_study_without_a_plan_has_no_claims(tmp_path: Path) -> None:
    facts = replace(make_study(Home(tmp_path), Shape(failed=())), plan=None)
    with pytest.raises(ValueError, match="no plan"):
        compute(facts)
