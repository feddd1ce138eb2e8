"""What a playbook file may hold."""

import pytest

from autoresearch.playbook.schema import Parameter


def test_parameters_keep_their_range_and_type() -> None:
    parameter = Parameter(type="int", default=8, low=2, high=64)
    assert parameter.value(16.0) == 16
    for wrong in (1, 65, 2.5):
        with pytest.raises(ValueError, match=r"outside|whole"):
            parameter.value(wrong)
    with pytest.raises(ValueError, match="outside"):
        Parameter(type="int", default=1, low=2)
