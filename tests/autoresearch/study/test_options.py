"""Options of `start`: which seeds there are, and the command that asks for the same study."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.study.options import StartOptions, parse_seed, start_command
from swarm.errors import Refusal


@given(st.integers(0, 2**31 - 1))
def test_every_seed_parses(seed: int) -> None:
    assert parse_seed(str(seed)) == seed


@pytest.mark.parametrize("text", ["-1", "1.5", "seven", "", str(2**31), "9" * 30])
def test_bad_seed(text: str) -> None:
    with pytest.raises(Refusal, match=r"seed: .*whole number"):
        parse_seed(text)


def test_the_command_names_what_is_not_at_its_default() -> None:
    options = StartOptions(
        topic="is it's better?",
        profile="full",
        seed=3,
        set={"optim.lr": 1e-4, "task.reward": "exact"},
    )
    words = shlex.split(start_command(options))
    assert words[:3] == ["autoresearch", "start", "is it's better?"]
    assert words[3:] == [
        *("--profile", "full", "--seed", "3"),
        *("--set", "optim.lr=0.0001", "--set", "task.reward=exact"),
    ]


def test_the_command_of_a_plan_file_names_the_file_alone() -> None:
    options = StartOptions(topic="x", profile="full", plan="/tmp/a plan.yaml")
    assert shlex.split(start_command(options)) == [
        "autoresearch",
        "start",
        "--plan",
        "/tmp/a plan.yaml",
    ]
