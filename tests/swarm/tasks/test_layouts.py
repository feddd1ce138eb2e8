"""Layouts of the field, recognised and said; ambiguous ones refused."""

import re
from pathlib import Path
from typing import Any

import pytest
from support.own_tasks import SUMS, own, written

from swarm.errors import BadTask

ASKED = [(row["prompt"], str(row["answer"])) for row in SUMS]


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text, "name": None}]


LAYOUTS: dict[str, Any] = {
    "TRL": lambda q, a: {"prompt": chat(q), "solution": a},
    "TRL's prompt-completion": lambda q, a: {"prompt": q, "completion": a},
    "verl": lambda q, a: {
        "data_source": "sums",
        "prompt": chat(q),
        "reward_model": {"style": "rule", "ground_truth": a},
        "extra_info": {"index": 1},
    },
    "GSM8K": lambda q, a: {"question": q, "answer": f"add them up\n#### {a}"},
    "OpenRLHF": lambda q, a: {"input": q, "label": a},
    "ShareGPT": lambda q, a: {
        "conversations": [{"from": "human", "value": q}, {"from": "gpt", "value": a}]
    },
    "problem and solution": lambda q, a: {"problem": q, "solution": a},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_recognised_and_said(tmp_path: Path, name: str) -> None:
    task = own(written(tmp_path, [LAYOUTS[name](q, a) for q, a in ASKED]))
    assert {(row.prompt, row.answer) for row in (*task.train, *task.held_out)} == set(ASKED)
    assert task.notes == (task.layout.note,)
    assert task.notes[0].startswith(f"rows are read as {name}: prompt is ")
    row = task.train[0]
    assert all(set(message) == {"role", "content"} for message in row.messages)


def test_the_house_has_nothing_to_say(tmp_path: Path) -> None:
    assert own(written(tmp_path, SUMS)).notes == ()


def test_gsm8k_shows_the_worked_solution(tmp_path: Path) -> None:
    task = own(written(tmp_path, [LAYOUTS["GSM8K"](q, a) for q, a in ASKED]))
    row = task.train[0]
    assert task.demonstration(row, None) == f"add them up\n#### {row.answer}"


def test_a_system_column_comes_first(tmp_path: Path) -> None:
    rows = [LAYOUTS["ShareGPT"](q, a) | {"system": "add"} for q, a in ASKED]
    task = own(written(tmp_path, rows))
    assert [m["role"] for m in task.train[0].messages] == ["system", "user"]


@pytest.mark.parametrize(
    ("row", "columns", "named"),
    [
        ({"question": "a", "input": "b", "answer": "c"}, {}, "'question' and 'input', and either"),
        ({"question": "a", "answer": "b", "solution": "c"}, {}, "'answer' and 'solution', and"),
        (
            {"prompt": "a", "answer": "b", "reward_model": {"ground_truth": "c"}},
            {},
            "'answer' and 'reward_model.ground_truth', and either",
        ),
        ({"prompt": "a", "output": "b", "label": "c"}, {}, "'label' and 'output', and either"),
        ({"q": "a", "answer": "b"}, {"prompt": "qu"}, "no column 'qu'; did you mean q?"),
        ({"q": "a", "answer": "b"}, {"promt": "q"}, "promt: rows have no such part; did you mean"),
        ({"question": "a", "answer": "x\n#### 1"}, {}, "row 2: its 'answer' does not end with"),
        ({"instruction": "a", "input": "b", "output": "c"}, {}, "and either may be the question"),
        ({"conversations": [{"from": "tool", "value": "x"}]}, {}, "row 1 holds a message from"),
    ],
)
def test_what_may_be_either_is_refused(
    tmp_path: Path, row: dict[str, Any], columns: dict[str, str], named: str
) -> None:
    rows = [row | {"n": n} for n in range(30)]
    if "####" in str(row):
        rows[1] = rows[1] | {"answer": "plain"}
    with pytest.raises(BadTask, match=re.escape(named)):
        own(written(tmp_path, rows), columns=columns)


def test_columns_say_which(tmp_path: Path) -> None:
    rows = [
        {"q": q, "input": "no", "extra": {"gold": a}, "hard": 1 + n % 2}
        for n, (q, a) in enumerate(ASKED)
    ]
    names = {"prompt": "q", "answer": "extra.gold", "level": "hard"}
    task = own(written(tmp_path, rows), columns=names)
    assert {(row.prompt, row.answer) for row in (*task.train, *task.held_out)} == set(ASKED)
    assert task.known_levels == (1, 2)
    assert "answer is 'extra.gold'" in task.notes[0]
