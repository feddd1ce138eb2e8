"""The registered rules of a decision."""

import pytest
from pydantic import ValidationError

from autoresearch.study.rules import Decision


@pytest.mark.parametrize("looks", [(5, 5), (10, 5), (0, 5), ()])
def test_looks_rise_from_one_seed(looks: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError):
        Decision(looks=looks)


@pytest.mark.parametrize(("field", "value"), [("alpha", 0.0), ("alpha", 0.5), ("power", 1.0)])
def test_rates_are_rates(field: str, value: float) -> None:
    with pytest.raises(ValidationError, match=field):
        Decision.model_validate({field: value})
