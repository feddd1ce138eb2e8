import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.report.numbers import show


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.69849, "share", "0.698"),
        (-0.0004, "share", "−0.000"),
        (7.3051, "tokens", "7.31"),
        (999.6, "tokens", "1,000"),
        (0.0998, "nats per token", "0.0998"),
        (2.71e-7, "nats per token", "2.71e-7"),
        (842400, "tokens", "842,400"),
        (7200, "exact", "7200"),
        (0.05, "exact", "0.05"),
        (0.001, "setting", "`0.001`"),
        ("eval/acc", "name", "`eval/acc`"),
        (0.95, "percent", "95%"),
        (0.9779, "percent", "97.8%"),
        (0.0004, "p", "below 0.001"),
        (0.0301, "p", "0.030"),
        (37.53, "s", "37.5 s"),
        (707.0, "s", "11.8 min"),
        (5400.0, "s", "1.5 h"),
        (0.0, "", "0"),
        (math.inf, "share", "not finite"),
    ],
)
def test_the_rounding_rule(value: float | str, unit: str, shown: str) -> None:
    assert show(value, unit) == shown


def test_effects_carry_their_sign() -> None:
    assert show(0.104, "share", signed=True) == "+0.104"
    assert show(-0.104, "share", signed=True) == "−0.104"
    assert show(0.0, "nats", signed=True) == "0"


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_three_significant_digits_lose_at_most_half_a_unit_of_the_third(value: float) -> None:
    shown = float(show(value, "nats").replace(",", ""))
    assert abs(shown - value) <= 0.5001 * 10 ** (math.floor(math.log10(value)) - 2)
