"""Prompts that differ in form alone: on one side of the split, and counted between two tasks."""

from pathlib import Path

import pytest
from support.own_tasks import SUMS, own, written

from swarm.tasks import Overlap, overlap
from swarm.tasks.likeness import normalised
from swarm.tasks.own_rows import row
from swarm.tasks.task_family import Problem


@pytest.mark.parametrize(
    ("one", "other"),
    [("A  b\n", "a b"), ("\ufb01ne", "FINE"), ("x\u00a0y", "x y"), ("Stra\u00dfe", "STRASSE")],
)
def test_what_is_alike(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


def test_what_is_not() -> None:
    assert normalised("1 2") != normalised("12")


def test_near_duplicates_are_on_the_side_of_the_first(tmp_path: Path) -> None:
    forms = [str.upper, lambda text: f" {text} "]
    rows = [{"prompt": f"what is {row['prompt']}", "answer": row["answer"]} for row in SUMS]
    more = [{**row, "prompt": form(row["prompt"])} for form in forms for row in rows]
    task, plain = own(written(tmp_path, rows + more)), own(written(tmp_path, rows, "plain.jsonl"))
    trained = {normalised(row.prompt) for row in task.train}
    assert not trained & {normalised(row.prompt) for row in task.held_out}
    assert len(task.train) + len(task.held_out) == 3 * len(rows)
    assert [row for row in task.train if row.number <= len(rows)] == list(plain.train)
    assert [row for row in task.held_out if row.number <= len(rows)] == list(plain.held_out)


def test_overlap() -> None:
    train = [row(n, {"prompt": text}) for n, text in ((4, "one"), (6, "Two"), (9, "three"))]
    asked = [row(n, {"prompt": text}) for n, text in ((1, "four"), (2, "one"), (3, " two"))]
    assert overlap(train, asked) == Overlap(1, 2, ((2, 4), (3, 6)))
    assert overlap(train, [Problem("x", "", 1)]) == Overlap(0, 0, ())
