"""One study with a hypothesis on length, and its claims."""

import pytest
from support.synthetic_study import Shape, compute, make_study

from autoresearch.analysis.claims import Claim
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    home = Home(tmp_path_factory.mktemp("claims"))
    return make_study(home, Shape(failed=(), length_hypothesis=True))


@pytest.fixture(scope="module")
def claims(facts: StudyFacts) -> dict[str, Claim]:
    return compute(facts).by_id()
