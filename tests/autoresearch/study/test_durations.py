"""Lengths of time: what parses, what a refusal says, how they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.study.durations import duration, parse_duration
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("45m", 2700), ("2h", 7200), ("1h30m", 5400), ("3d", 259_200), ("0.5h", 1800)],
)
def test_a_length_of_time(text: str, seconds: float) -> None:
    assert parse_duration(text, "budget") == seconds


@pytest.mark.parametrize("text", ["", "ten", "10", "-5m", "5 parsecs", "0s", "h", "1h-2m"])
def test_a_bad_one_says_how_to_write_it(text: str) -> None:
    with pytest.raises(Refusal, match=r"budget: .*write it as 90s"):
        parse_duration(text, "budget")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(45, "45 s"), (480, "8 min"), (7500, "2 h 05 min"), (97_200, "27 h 00 min"), (2e5, "2 d 7 h")],
)
def test_how_it_is_shown(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats(1, 1e7))
def test_what_is_shown_is_near(seconds: float) -> None:
    shown = duration(seconds).replace(" min", "m").replace(" ", "")
    assert parse_duration(shown, "x") == pytest.approx(seconds, rel=0.05, abs=31)
