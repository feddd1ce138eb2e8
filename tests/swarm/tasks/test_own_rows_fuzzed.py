"""Files of rows that hypothesis writes: read as they are meant, or refused by the row."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.own_tasks import code, own
from support.row_files import (
    LAYOUTS,
    Meant,
    as_arrow,
    as_csv,
    as_json,
    as_jsonl,
    as_parquet,
    meant,
)

from swarm.errors import BadTask
from swarm.tasks.own_rows import Rows, from_file

MANY = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

#: Names of questions and answers that the field has, apart from the module under test.
QUESTIONS = ("question", "problem", "input", "instruction", "query", "conversations")
ANSWERS = ("answer", "solution", "label", "ground_truth", "output", "response", "completion")


def read(folder: Path, name: str, data: bytes) -> Rows:
    path = folder / name
    path.write_bytes(data)
    return from_file(path)


def tried(folder: Path, name: str, data: bytes) -> tuple[Rows | None, str]:
    """The rows, or the line that refuses them; any other exception is a fault."""
    try:
        return read(folder, name, data), ""
    except BadTask as refused:
        return None, str(refused)


def assert_read_as(rows: Rows, said: list[Meant]) -> None:
    assert [row.number for row in rows.rows] == list(range(1, len(said) + 1))
    for row, each in zip(rows.rows, said, strict=True):
        assert row.prompt == each.prompt
        assert row.answer.strip() == each.answer.strip()
        assert [dict(m) for m in row.messages] == (each.messages if each.chat else [])


@pytest.mark.parametrize("layout", LAYOUTS)
class TestEveryLayout:
    @MANY
    @given(data=st.data())
    def test_text_files_are_read_as_meant(
        self, tmp_path: Path, layout: str, data: st.DataObject
    ) -> None:
        said = data.draw(meant(layout))
        rows = [LAYOUTS[layout][0](each) for each in said]
        end, bom = data.draw(st.sampled_from(["\n", "\r\n", "\r"])), data.draw(st.booleans())
        form = as_jsonl(rows, end, bom, ascii_=data.draw(st.booleans()))
        assert_read_as(read(tmp_path, "a.jsonl", form), said)
        assert_read_as(
            read(tmp_path, "a.json", as_json(rows, data.draw(st.sampled_from([None, 1])), bom)),
            said,
        )
        if not said[0].chat:
            assert_read_as(read(tmp_path, "a.csv", as_csv(rows, end, bom)), said)

    @MANY
    @given(data=st.data())
    def test_tables_are_read_as_meant(
        self, tmp_path: Path, layout: str, data: st.DataObject
    ) -> None:
        said = data.draw(meant(layout))
        rows = [LAYOUTS[layout][0](each) for each in said]
        assert_read_as(read(tmp_path, "a.parquet", as_parquet(rows)), said)
        assert_read_as(read(tmp_path, "a.arrow", as_arrow(rows)), said)

    @MANY
    @given(data=st.data())
    def test_a_row_that_is_spoiled_is_named(
        self, tmp_path: Path, layout: str, data: st.DataObject
    ) -> None:
        """One row without its question, with a question of another kind, or with half a character:
        its number is in the line."""
        said = data.draw(meant(layout))
        rows = [LAYOUTS[layout][0](each) for each in said]
        at = data.draw(st.integers(0, len(rows) - 1))
        asked = next(iter(n for n in ("prompt", "messages", *QUESTIONS) if n in rows[at]))
        wrong: Any = data.draw(
            st.sampled_from(
                [
                    None,
                    "",
                    " \n",
                    [],
                    {},
                    3,
                    True,
                    [[]],
                    [{}],
                    ["?"],
                    "\ud800",
                    [{"role": "user", "content": None}],
                    [{"role": "user", "content": ""}],
                    [{"from": "human", "value": 3}],
                    [{"role": "assistant", "content": "4"}],
                    [{"role": "system", "content": ""}, {"role": "user", "content": ""}],
                ]
            )
        )
        rows[at][asked] = wrong
        kept = [row for i, row in enumerate(rows) if i != at]
        for name, form in (("a.jsonl", as_jsonl(rows)), ("a.json", as_json(rows))):
            with pytest.raises(BadTask) as refused:
                read(tmp_path, name, form)
            assert re.search(rf"\brow {at + 1}\b", str(refused.value)) or not kept


def _texts(value: Any) -> list[str] | None:
    """What the messages in a column say; None where that is no chat."""
    if not isinstance(value, list) or not value:
        return None
    told = [m.get("content", m.get("value")) if isinstance(m, Mapping) else None for m in value]
    return told if all(isinstance(text, str) for text in told) else None


def _says(raw: Mapping[str, Any], system: str | None = None) -> list[tuple[str, str]]:
    """Every (prompt, final reply) that some column of a row could be read as."""
    found = []
    for name in ("prompt", "messages", *QUESTIONS):
        value = raw.get(name)
        if isinstance(value, str):
            found.append((value, ""))
        elif (told := _texts(value)) is not None:
            last = value[-1].get("role", value[-1].get("from"))
            asked, reply = (
                (told[:-1], told[-1]) if last in ("assistant", "gpt", "model") else (told, "")
            )
            if name == "conversations" and isinstance(raw.get("system"), str) and raw["system"]:
                asked = [raw["system"], *asked]
            found.append(("\n".join(asked), reply))
    return found


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
MESSAGE = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=5)}
    ),
    st.fixed_dictionaries(
        {"from": st.sampled_from(["human", "gpt", "system", "tool"]), "value": st.text(max_size=5)}
    ),
    VALUE,
)
WILD = st.dictionaries(
    st.sampled_from(
        [
            "prompt",
            "messages",
            *QUESTIONS,
            *ANSWERS,
            "reward_model",
            "system",
            "level",
            "demonstration",
            "other",
        ]
    ),
    st.one_of(
        VALUE,
        st.text("ab 1", max_size=4),
        st.lists(MESSAGE, max_size=3),
        st.fixed_dictionaries({"ground_truth": VALUE}),
    ),
    min_size=1,
    max_size=4,
)


@settings(MANY, max_examples=1500)
@given(rows=st.lists(WILD, min_size=1, max_size=3))
def test_whatever_lies_there_no_prompt_is_made_up(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    """A prompt is the text of one column, the same in all rows, and the only one that may be the
    question; an answer is a value of the row."""
    found, refused = tried(tmp_path, "a.jsonl", as_jsonl(rows))
    if found is None:
        assert re.search(r"\b(row|line) \d|rows hold", refused)
        return
    held = {name for raw in rows for name, value in raw.items() if value is not None}
    for row, raw in zip(found.rows, rows, strict=True):
        could = [(asked, reply) for asked, reply in _says(raw) if asked == row.prompt]
        assert could
        assert row.prompt.strip()
        if "prompt" not in held and "messages" not in held:
            assert len(held & set(QUESTIONS)) == 1
        values = [raw[name] for name in ANSWERS if name in raw]
        values += [
            m["ground_truth"]
            for m in [raw.get("reward_model")]
            if isinstance(m, dict) and "ground_truth" in m
        ]
        texts = {
            str(int(v)) if isinstance(v, float) and v.is_integer() else str(v)
            for v in values
            if v is not None
        }
        texts |= {str(v).rpartition("####")[2].strip() for v in values}
        assert row.answer in texts | {"", *(reply.strip() for _, reply in could)}
        told = held & set(ANSWERS)
        if "answer" not in held and len(told) > 1:
            assert not row.answer


@settings(MANY, max_examples=600)
@given(
    data=st.data(),
    name=st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.parquet", "a.arrow"]),
    other=st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.parquet", "a.arrow"]),
)
def test_bytes_of_any_kind_are_read_or_refused(
    tmp_path: Path, data: st.DataObject, name: str, other: str
) -> None:
    rows = [{"prompt": f"{i}+{i}=", "answer": str(2 * i)} for i in range(3)]
    write = {
        "a.jsonl": as_jsonl,
        "a.json": as_json,
        "a.csv": as_csv,
        "a.parquet": as_parquet,
        "a.arrow": as_arrow,
    }
    good = bytearray(write[other](rows))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(good)))
        good[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    _, refused = tried(tmp_path, name, bytes(good))
    assert "\n" not in refused


def test_a_final_reply_is_no_answer_where_columns_may_be_it(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "2+2="}, {"role": "assistant", "content": "so 4"}]
    rows = [{"messages": turns, "solution": "4", "label": "5"}]
    [found] = read(tmp_path, "a.jsonl", as_jsonl(rows)).rows
    assert (found.answer, found.shown) == ("", "so 4")


def test_the_system_column_is_asked_however_conversations_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    turns = [{"from": "human", "value": "2+2="}, {"from": "gpt", "value": "4"}]
    path.write_bytes(as_jsonl([{"system": "be short", "conversations": turns}]))
    for columns in ({}, {"prompt": "conversations"}):
        [found] = from_file(path, columns).rows
        assert [m["role"] for m in found.messages] == ["system", "user"]


def test_an_answer_that_is_no_text_is_left_to_a_reward(tmp_path: Path) -> None:
    rows = [{"prompt": f"{i}?", "solution": [i, "or so"]} for i in range(40)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(as_jsonl(rows))
    (tmp_path / "near.py").write_text(
        "def near(completions, solution, **others):\n"
        "    return [float(str(s[0]) == c) for c, s in zip(completions, solution)]\n"
    )
    with pytest.raises(BadTask, match="row 1: its solution is list"):
        own(path)
    task = own(path, reward=f"{tmp_path}/near.py:near")
    asked = task.evaluation(1)[0]
    right = asked.prompt.removesuffix("?")
    assert [score.reward for score in task.score(asked, [right, "x"])] == [1.0, 0.0]


@pytest.mark.parametrize("column", ["prompts", "completions", "completion_ids", "log_extra"])
def test_no_column_stands_in_for_what_was_sampled(tmp_path: Path, column: str) -> None:
    """Rows that hold earlier `completions` would be judged in the place of the policy's."""
    rows = [{"prompt": f"{i}?", column: "right"} for i in range(40)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(as_jsonl(rows))
    (tmp_path / "r.py").write_text("def r(completions, **others):\n    return [1.0]\n")
    with pytest.raises(BadTask, match=f"row 1 has a column '{column}'"):
        own(path, reward=f"{tmp_path}/r.py:r")
    made = code(
        tmp_path,
        f"""
class Made:
    rows = [{{"prompt": f"{{i}}?", "{column}": "right"}} for i in range(40)]
    def reward(self, completions, **others):
        return [1.0]

def make():
    return Made()
""",
    )
    with pytest.raises(BadTask, match=f"row 1 has a column '{column}'"):
        own(made)
