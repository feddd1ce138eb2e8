"""The claims of one study."""

import pytest
from support.synthetic_study import Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.study.home import Home


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> ClaimSet:
    home = Home(tmp_path_factory.mktemp("render"))
    return compute(make_study(home, Shape(length_hypothesis=True)))
