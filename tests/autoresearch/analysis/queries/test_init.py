"""The table of queries."""

import inspect

import pytest
from support.synthetic_study import Shape, compute, make_study

from autoresearch.analysis.claim_list import Query
from autoresearch.analysis.claims import Claim, answer
from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.queries import QUERIES
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from swarm.config.parts import EvalSet


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    home = Home(tmp_path_factory.mktemp("queries"))
    own = EvalSet(ref="test.jsonl", name="test", k=4, digest="b" * 64)
    shape = Shape(failed=(), tasks=("reverse", "sort"), digest="a" * 64, sets=(own,))
    return make_study(home, shape)


@pytest.fixture(scope="module")
def claims(facts: StudyFacts) -> tuple[Claim, ...]:
    return compute(facts).claims


def test_every_query_is_behind_some_claim_and_says_what_it_answers(
    claims: tuple[Claim, ...],
) -> None:
    assert {claim.query.name for claim in claims} == QUERIES.keys()
    assert all(inspect.getdoc(query) for query in QUERIES.values())


def test_accounts_are_accounting_and_all_others_outcomes(claims: tuple[Claim, ...]) -> None:
    for claim in claims:
        accounts = claim.query.name.startswith("accounts.")
        assert claim.kind == ("accounting" if accounts else "outcome")


@pytest.mark.parametrize("name", ["outcomes.nothing", "evidence.mean", "noise.level", "effect", ""])
def test_a_name_that_is_not_in_the_table_is_no_query(name: str, facts: StudyFacts) -> None:
    with pytest.raises(KeyError):
        answer(Evidence(facts), Query(name=name))
