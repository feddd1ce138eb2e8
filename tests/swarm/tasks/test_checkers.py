"""Answers compared as numbers, choices and mathematics."""

import time
from fractions import Fraction
from pathlib import Path

import pytest
from support.own_tasks import own, written

from swarm.errors import BadTask
from swarm.tasks.checkers import chosen_letter, last_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The answer is $1,234.50.", "1234.5"),
        ("18%", "18"),
        ("3+4=7, so\n#### 72", "72"),
        ("\\boxed{-\\frac{3}{4}} of 12", "-3/4"),
        ("\\boxed{1{,}000}", "1000"),
        ("10-5", "5"),
        ("x = -5", "-5"),
        ("\u22125 degrees", "-5"),
        ("5kg", "5"),
        ("about 1e3", "1000"),
        ("1/2", "1/2"),
        ("1/0", None),
        ("9" * 500, None),
        ("no number", None),
        ("", None),
    ],
)
def test_the_last_number(text: str, number: str | None) -> None:
    assert last_number(text) == (None if number is None else Fraction(number))


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(c)", "C"),
        ("The answer is (D).", "D"),
        ("A dog barks; the answer: b", "B"),
        ("B) because A is wrong", "B"),
        ("I think it is C", "C"),
        ("\\boxed{\\text{E}}", "E"),
        ("Answer: **C**", "C"),
        ("the answer is a bit unclear", None),
        ("A dog", None),
        ("F", None),
    ],
)
def test_the_letter_chosen(text: str, letter: str | None) -> None:
    assert chosen_letter(text) == letter


@pytest.mark.parametrize(
    ("reward", "answer", "why"),
    [
        ("number", "seven", "holds no number"),
        ("number", "3 or 4", "holds 2 numbers"),
        ("choice", "BC", "is no letter A to E"),
    ],
)
def test_an_answer_that_cannot_be_compared_with_names_its_row(
    tmp_path: Path, reward: str, answer: str, why: str
) -> None:
    good = {"number": "7", "choice": "B"}[reward]
    rows = [{"prompt": f"{n}?", "answer": good} for n in range(60)]
    path = written(tmp_path, [*rows, {"prompt": "last?", "answer": answer}])
    with pytest.raises(BadTask, match=f"task.reward: row 61: its answer '{answer}' {why}"):
        own(path, reward=reward)
    written(tmp_path, rows)
    task = own(path, reward=reward)
    assert [score.reward for score in task.score(task.evaluation(1)[0], [f"({good})", "x"])] == [
        1.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("start", "again", "end"),
    [
        ("answer", " ", "x"),
        ("#### 4", " ", "x"),
        ("", "\n#### 4", "x"),
        ("1", ",111", ","),
        ("", "1/", ""),
        ("", "A ", "?"),
        ("", "\\boxed{", ""),
        ("", "\\frac{1}", ""),
        ("", " ", ""),
    ],
)
def test_a_text_of_any_length_is_read_at_once(start: str, again: str, end: str) -> None:
    """A policy that repeats itself stalls no run: the time is in proportion to the text."""
    text = start + again * (100_000 // len(again)) + end
    began = time.process_time()
    last_number(text)
    chosen_letter(text)
    assert time.process_time() - began < 3


def test_more_thousands_than_an_answer_has_are_no_answer() -> None:
    assert last_number("1" + ",111" * 500) is None
    assert last_number("1" + ",111" * 20) == int("1" + "111" * 20)
