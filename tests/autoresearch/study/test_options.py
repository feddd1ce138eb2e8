"""Options of `start`: what parses, and what each refusal says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.study.options import parse_budget, parse_seed, parse_set
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("45m", 2700), ("2h", 7200), ("1h30m", 5400), ("3d", 259_200), ("0.5h", 1800)],
)
def test_budget(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "ten", "10", "-5m", "5 parsecs", "0s", "h", "1h-2m"])
def test_bad_budget_says_how_to_write_it(text: str) -> None:
    with pytest.raises(Refusal, match=r"budget: .*write it as 90s"):
        parse_budget(text)


@given(st.integers(0, 2**31 - 1))
def test_every_seed_parses(seed: int) -> None:
    assert parse_seed(str(seed)) == seed


@pytest.mark.parametrize("text", ["-1", "1.5", "seven", "", str(2**31), "9" * 30])
def test_bad_seed(text: str) -> None:
    with pytest.raises(Refusal, match=r"seed: .*whole number"):
        parse_seed(text)


def test_set_reads_yaml_scalars() -> None:
    pairs = ["optim.lr=3e-4", "batch.epochs=2", "task.reward=partial", "algorithm.clip_low=null"]
    assert parse_set(pairs) == {
        "optim.lr": 3e-4,
        "batch.epochs": 2,
        "task.reward": "partial",
        "algorithm.clip_low": None,
    }


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["optim.lr"], "no assignment"),
        (["=3"], "no assignment"),
        (["a=[1, 2]"], "no single value"),
        (["optim.lr=1", "optim.lr=2"], "given twice"),
    ],
)
def test_bad_set(pairs: list[str], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        parse_set(pairs)
