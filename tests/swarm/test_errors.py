"""Refusals are one line that names field, problem and next step, in every process."""

import pickle
from pathlib import Path

import pytest

from swarm.errors import (
    BadAdapter,
    BadStorage,
    BadTask,
    InfrastructureError,
    ModelUnavailable,
    RayUnreachable,
    Refusal,
    RewardFailed,
    RewardOverdue,
    blamed,
    closest,
    did_you_mean,
    said,
)

REFUSALS = [
    Refusal("seed", "one is not a number", "give 0 or more"),
    BadTask("row 3 has no prompt", "add one"),
    ModelUnavailable("'x' is not a model", "names: tiny"),
    BadAdapter(Path("runs"), "holds no adapter", "give a run"),
    BadStorage("s3://x", OSError("no such\n  bucket"), "give a folder"),
    RayUnreachable("auto", "no Ray cluster answered"),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
class TestRefusals:
    def test_one_line_says_field_problem_and_next_step(self, error: Refusal) -> None:
        assert isinstance(error, Refusal)
        assert error.field
        assert str(error) == f"{error.field}: {error.problem}; {error.next_step}"
        assert "\n" not in str(error)

    def test_another_process_reads_the_same(self, error: Refusal) -> None:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert (str(again), again.field, again.next_step) == (
            str(error),
            error.field,
            error.next_step,
        )


def test_a_cluster_that_does_not_answer_is_a_fault_of_the_machinery_too() -> None:
    assert isinstance(RayUnreachable("auto", "x"), InfrastructureError)
    assert not isinstance(ModelUnavailable("x", "y"), InfrastructureError)


def test_a_failed_reward_names_function_and_row_in_every_process() -> None:
    error = RewardFailed("praise in mine.py", "returned 'x'", 7)
    for found in (error, pickle.loads(pickle.dumps(error))):
        text = "praise in mine.py returned 'x' on row 7; correct it and start anew"
        assert str(found) == text


def test_a_late_reward_names_its_limit_in_every_process() -> None:
    error = RewardOverdue("praise in mine.py", 2.5, 7)
    for found in (error, pickle.loads(pickle.dumps(error))):
        assert "did not return within 2.5 s on row 7; make it faster, or raise" in str(found)
        assert isinstance(found, RewardOverdue)


def test_an_exception_whose_text_cannot_be_read_is_named_still() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert said(Mute()) == "its text cannot be read"
    assert blamed(Mute(), Path("mine.py")) == "Mute: its text cannot be read"


def test_the_nearest_name_is_proposed_or_all_of_them() -> None:
    assert did_you_mean("revers", ["sort", "reverse"]) == "did you mean reverse?"
    assert did_you_mean("chess", ["sort", "reverse"]) == "known: sort, reverse"
    assert closest("chess", ["sort"]) == []
    assert closest("srt", ["sort", "order"]) == ["sort"]
