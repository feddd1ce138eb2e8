"""The user's rows, read and checked before anything starts."""

import codecs
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swarm.config.base import canonical_digest
from swarm.errors import BadTask
from swarm.tasks.task_family import Problem

Messages = tuple[Mapping[str, str], ...]

#: Where a row may hold its question; everything else in it is a column for the reward.
_QUESTION = ("prompt", "messages")


@dataclass(frozen=True)
class Row(Problem):
    """One row. `number` counts from 1 (a file's lines), `messages` is a chat, if it is one, without
    the answer that it ends with, which is `shown`."""

    number: int = 0
    messages: Messages = ()
    shown: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """Rows and the sha256 of what they came from."""

    rows: tuple[Row, ...]
    digest: str


def from_file(path: Path) -> Rows:
    """The rows of a JSONL file, one object a line; empty lines are skipped. Raises BadTask."""
    if not path.is_file():
        raise BadTask(f"there is no file {path}", "give the path of a JSONL file")
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadTask(f"{path.name} is UTF-16", "save it as UTF-8")
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            rows.append(row(number, _parsed(path, number, line)))
    return Rows(tuple(rows), hashlib.sha256(data).hexdigest())


def from_values(values: Iterable[Any]) -> Rows:
    """Rows that code made: mappings that JSON can hold. Raises BadTask."""
    raws = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, Mapping):
            raise BadTask(f"row {number} is {type(value).__name__}", "make every row a dict")
        raws.append(dict(value))
        try:
            json.dumps(raws[-1], allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BadTask(f"row {number}: {error}", "keep to what JSON can hold") from None
    return Rows(
        tuple(row(number, raw) for number, raw in enumerate(raws, 1)), canonical_digest(raws)
    )


def row(number: int, raw: Mapping[str, Any]) -> Row:
    """A checked row. `prompt` is text or, as `messages`, a chat; `answer` text or a number; `level`
    a whole number from 1. The answer that a chat ends with is not part of the question: it is what
    supervised steps imitate, and the answer of a row without one. Raises BadTask naming the row."""
    asked = raw["prompt"] if raw.get("prompt") is not None else raw.get("messages")
    messages = _messages(number, asked) if isinstance(asked, Sequence) else ()
    shown = ""
    if messages and messages[-1]["role"] == "assistant":
        messages, shown = messages[:-1], messages[-1]["content"]
        if not messages:
            raise BadTask(
                f"row {number} holds an answer and no question", "put a message before it"
            )
    if not isinstance(asked, str) and not messages:
        raise BadTask(f"row {number} has no `prompt`", "give each row a text or a list of messages")
    text = asked if isinstance(asked, str) else "\n".join(m["content"] for m in messages)
    if not text:
        raise BadTask(f"row {number} has an empty prompt", "write a question, or drop the row")
    answer = _answer(number, raw.get("answer")) or shown.strip()
    try:
        json.dumps(dict(raw), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        problem = f"row {number} holds half of a surrogate pair"
        raise BadTask(problem, "write the whole character") from None
    except ValueError:
        problem = f"row {number} holds a number that is not finite (NaN, Infinity, 1e999)"
        raise BadTask(problem, "write null, or drop the row") from None
    return Row(
        prompt=text,
        answer=answer,
        level=_level(number, raw.get("level", 1)),
        number=number,
        messages=messages,
        shown=shown,
        columns={name: value for name, value in raw.items() if name not in _QUESTION},
    )


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ. Raises ValueError: of two values JSON says not which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _parsed(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as error:
        raise BadTask(f"{path.name} line {number} is not JSON ({error})", "correct it") from None
    if not isinstance(value, dict):
        raise BadTask(f"{path.name} line {number} is not a JSON object", 'write {"prompt": …, …}')
    return value


def _messages(number: int, asked: Sequence[Any]) -> Messages:
    if isinstance(asked, str):
        return ()
    for message in asked:
        fits = isinstance(message, Mapping) and {"role", "content"} <= message.keys()
        if not fits or not isinstance(message["content"], str):
            raise BadTask(
                f"row {number} holds a message that is none",
                'write each as {"role": "user", "content": "…"}',
            )
    return tuple(asked)


def _answer(number: int, answer: Any) -> str:
    if answer is None:
        return ""
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise BadTask(f"row {number}: its answer is {type(answer).__name__}", "write text")
    if isinstance(answer, float) and answer.is_integer():  # 72.0 is what pandas makes of 72
        return str(int(answer))
    return str(answer)


def _level(number: int, level: Any) -> int:
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise BadTask(
            f"row {number}: level {level!r} is not a whole number of at least 1", "correct it"
        )
    return level
