"""Rows that hypothesis writes: what is meant, in the layouts of the field, as bytes of a file."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

#: Whatever a text may hold but halves of surrogate pairs and NUL, which no text file holds raw.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
SAID = TEXT.filter(lambda text: text.strip())

#: Answers that rows of every format hold as they are.
ANSWER = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8)


@dataclass(frozen=True)
class Meant:
    """What a row says: who speaks what, in turn, and the right answer; `chat` where it is written
    as messages."""

    said: tuple[tuple[str, str], ...]
    answer: str
    chat: bool

    @property
    def prompt(self) -> str:
        return "\n".join(text for _, text in self.said)

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": role, "content": text} for role, text in self.said]


def _chats() -> st.SearchStrategy[tuple[tuple[str, str], ...]]:
    """System or not, questions and replies in turn, a question at the end."""
    first = st.lists(st.tuples(st.just("system"), SAID), max_size=1)
    turns = st.lists(st.tuples(SAID, SAID), max_size=2)
    return st.builds(
        lambda start, pairs, last: (
            *start,
            *(each for asked, told in pairs for each in (("user", asked), ("assistant", told))),
            ("user", last),
        ),
        first,
        turns,
        SAID,
    )


PLAIN = st.builds(lambda text, answer: Meant((("user", text),), answer, False), SAID, ANSWER)
CHAT = st.builds(lambda said, answer: Meant(said, answer, True), _chats(), ANSWER)

Write = Callable[[Meant], dict[str, Any]]


def _asked(meant: Meant) -> Any:
    return meant.messages if meant.chat else meant.prompt


def _sharegpt(meant: Meant) -> dict[str, Any]:
    who = {"user": "human", "assistant": "gpt", "system": "system"}
    turns = [{"from": who[role], "value": text} for role, text in meant.said]
    return {"conversations": [*turns, {"from": "gpt", "value": meant.answer}]}


def _sharegpt_system(meant: Meant) -> dict[str, Any]:
    """The system's text in a column of its own, as LLaMA-Factory's files have it."""
    first, *rest = meant.said
    if first[0] != "system":
        return {**_sharegpt(meant), "system": ""}
    return {**_sharegpt(Meant(tuple(rest), meant.answer, True)), "system": first[1]}


#: layout -> (how it writes a row, whether its prompts may be text, whether they may be a chat).
LAYOUTS: Mapping[str, tuple[Write, bool, bool]] = {
    "own": (lambda m: {"prompt": _asked(m), "answer": m.answer}, True, True),
    "own messages": (
        lambda m: {"messages": [*m.messages, {"role": "assistant", "content": m.answer}]},
        False,
        True,
    ),
    "TRL": (lambda m: {"prompt": _asked(m), "solution": m.answer}, True, True),
    "TRL completions": (
        lambda m: {
            "prompt": _asked(m),
            "completion": [{"role": "assistant", "content": m.answer}] if m.chat else m.answer,
        },
        True,
        True,
    ),
    "verl": (
        lambda m: {
            "data_source": "openai/gsm8k",
            "prompt": m.messages,
            "reward_model": {"style": "rule", "ground_truth": m.answer},
            "extra_info": {"index": 3, "answer": "no"},
        },
        False,
        True,
    ),
    "GSM8K": (
        lambda m: {"question": m.prompt, "answer": f"It is so.\n#### {m.answer}"},
        True,
        False,
    ),
    "OpenRLHF": (lambda m: {"input": _asked(m), "label": m.answer}, True, True),
    "OpenRLHF sft": (lambda m: {"input": _asked(m), "output": m.answer}, True, True),
    "ShareGPT": (_sharegpt, False, True),
    "ShareGPT system": (_sharegpt_system, False, True),
}


def meant(layout: str, most: int = 6) -> st.SearchStrategy[list[Meant]]:
    """Rows that this layout can write, all texts or all chats."""
    _, plain, chat = LAYOUTS[layout]
    kinds = [kind for kind, can in ((PLAIN, plain), (CHAT, chat)) if can]
    return st.one_of([st.lists(kind, min_size=1, max_size=most) for kind in kinds])


def as_jsonl(rows: Sequence[Any], end: str = "\n", bom: bool = False, ascii_: bool = True) -> bytes:
    text = "".join(json.dumps(row, ensure_ascii=ascii_) + end for row in rows)
    return text.encode("utf-8-sig" if bom else "utf-8")


def as_json(rows: Sequence[Any], indent: int | None = None, bom: bool = False) -> bytes:
    return json.dumps(rows, indent=indent).encode("utf-8-sig" if bom else "utf-8")


def as_csv(rows: Sequence[Mapping[str, Any]], end: str = "\r\n", bom: bool = False) -> bytes:
    written = io.StringIO(newline="")
    table = csv.DictWriter(written, list(rows[0]), lineterminator=end, quoting=csv.QUOTE_ALL)
    table.writeheader()
    table.writerows(rows)
    return written.getvalue().encode("utf-8-sig" if bom else "utf-8")


def as_parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), sink, row_group_size=2)
    return sink.getvalue()


def as_arrow(rows: Sequence[Mapping[str, Any]]) -> bytes:
    table = pa.Table.from_pylist([dict(row) for row in rows])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()
