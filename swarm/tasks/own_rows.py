"""The user's rows, read and checked before anything starts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

from swarm.config.base import canonical_digest
from swarm.errors import BadTask
from swarm.tasks.data_files import RawRows, read
from swarm.tasks.layouts import CONVERSATIONS, HOUSE, MARKED, OWN, Layout, layout_of
from swarm.tasks.task_family import Problem

Messages = tuple[Mapping[str, str], ...]

#: Who speaks in a ShareGPT conversation, and the role that says so in a chat.
_SPEAKERS = MappingProxyType(
    {
        "human": "user",
        "user": "user",
        "gpt": "assistant",
        "assistant": "assistant",
        "model": "assistant",
        "system": "system",
    }
)


@dataclass(frozen=True)
class Row(Problem):
    """One row. `number` counts from 1 (a file's lines), `messages` is a chat, if it is one, without
    the answer that it ends with, which is `shown`. `worked` is what supervised steps imitate before
    anything else."""

    number: int = 0
    messages: Messages = ()
    shown: str = ""
    worked: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """Rows, the sha256 of what they came from, and how they are laid out."""

    rows: tuple[Row, ...]
    digest: str
    layout: Layout = OWN


def from_file(
    path: Path, columns: Mapping[str, str] = MappingProxyType({}), split: str = ""
) -> Rows:
    """The rows of a file or folder (`data_files.read`), their columns named as `columns` says and
    else as `layouts` recognises. Raises BadTask."""
    return laid_out(read(path, split), columns)


def laid_out(found: RawRows, columns: Mapping[str, str]) -> Rows:
    """Rows as they were read, checked. Raises BadTask naming the row."""
    layout = layout_of(found.rows, columns)
    return Rows(tuple(row(number, raw, layout) for number, raw in found.rows), found.digest, layout)


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


def row(number: int, raw: Mapping[str, Any], layout: Layout = OWN) -> Row:
    """A checked row. `prompt` is text or, as `messages`, a chat; `answer` text or a number; `level`
    a whole number from 1. The answer that a chat ends with is not part of the question: it is what
    supervised steps imitate, and the answer of a row without one, unless columns of it are rivals.
    An answer that is no text is a column for a reward of the user's own, and `answer` is empty.
    Raises BadTask naming the row."""
    asked = layout.get(raw, "prompt")
    messages = _messages(number, asked) if isinstance(asked, Sequence) else ()
    if messages and layout.columns.get("prompt") == CONVERSATIONS:
        messages = _with_system(number, raw.get("system"), messages)
    shown = ""
    if messages and messages[-1]["role"] == "assistant":
        messages, shown = messages[:-1], messages[-1]["content"]
        if not messages:
            raise BadTask(
                f"row {number} holds an answer and no question", "put a message before it"
            )
    if not isinstance(asked, str) and not messages:
        raise BadTask(
            f"row {number} has no `{layout.columns.get('prompt', 'prompt')}`",
            "give each row a text or a list of messages",
        )
    text = asked if isinstance(asked, str) else "\n".join(m["content"] for m in messages)
    if not text.strip():
        raise BadTask(f"row {number} has an empty prompt", "write a question, or drop the row")
    answer, solution = _answers(number, raw, layout)
    worked = _worked(number, layout.get(raw, "demonstration"))
    _check_values(number, raw)
    return Row(
        prompt=text,
        answer=answer or ("" if layout.rivals else shown.strip()),
        level=_level(
            number,
            1
            if "level" not in raw and not layout.columns.get("level")
            else layout.get(raw, "level"),
        ),
        number=number,
        messages=messages,
        shown=shown,
        worked=worked or solution,
        columns={name: value for name, value in raw.items() if name not in HOUSE},
    )


def _check_values(number: int, raw: Mapping[str, Any]) -> None:
    try:
        json.dumps(dict(raw), ensure_ascii=False, allow_nan=False, default=str).encode()
    except UnicodeEncodeError:
        problem = f"row {number} holds half of a surrogate pair"
        raise BadTask(problem, "write the whole character") from None
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        problem = (
            "is nested too deep"
            if deep
            else "holds a number that is not finite (NaN, Infinity, 1e999)"
        )
        raise BadTask(f"row {number} {problem}", "write null, or drop the row") from None


def _messages(number: int, asked: Sequence[Any]) -> Messages:
    if isinstance(asked, str | bytes):
        return ()
    return tuple(_message(number, message) for message in asked)


def _message(number: int, message: Any) -> Mapping[str, str]:
    """A message as chat templates read one, without the nulls that tables put in the place of what
    it does not hold."""
    if isinstance(message, Mapping):
        held = {name: value for name, value in message.items() if value is not None}
        if {"role", "content"} <= held.keys() and _are_text(held["role"], held["content"]):
            return held
        if {"from", "value"} <= held.keys() and _are_text(held["from"], held["value"]):
            if role := _SPEAKERS.get(held["from"]):
                return {"role": role, "content": held["value"]}
            problem = f"row {number} holds a message from {held['from']!r}"
            raise BadTask(problem, f"known: {', '.join(_SPEAKERS)}; or drop the row")
    raise BadTask(
        f"row {number} holds a message that is none",
        'write each as {"role": "user", "content": "…"}',
    )


def _are_text(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)


def _with_system(number: int, system: Any, messages: Messages) -> Messages:
    """The messages behind the text of a column `system`, which some ShareGPT files have."""
    if not system:
        return messages
    if not isinstance(system, str) or messages[0]["role"] == "system":
        raise BadTask(f"row {number} has a second system message", "keep one of the two")
    return ({"role": "system", "content": system}, *messages)


def _answers(number: int, raw: Mapping[str, Any], layout: Layout) -> tuple[str, str]:
    """The answer, and the worked solution that it was cut from, if it was."""
    value = _reply(layout.get(raw, "answer")) if not layout.rivals else None
    text = _as_text(value) if is_text(value) else ""
    if not layout.cut:
        return text, ""
    found = MARKED.search(text)
    return (found[1] if found else ""), text


def is_text(value: Any) -> TypeGuard[str | int | float | Decimal]:
    """Whether a row's value can be an answer: text or a number."""
    return isinstance(value, str | int | float | Decimal) and not isinstance(value, bool)


def _reply(value: Any) -> Any:
    """What the one message of an assistant's says, as TRL's chats are completed; else the value."""
    if isinstance(value, Sequence) and len(value) == 1 and isinstance(value[0], Mapping):
        said = value[0].get("content")
        if value[0].get("role") == "assistant" and isinstance(said, str):
            return said
    return value


def _worked(number: int, value: Any) -> str:
    """What is imitated, as text. Raises BadTask for what is neither text nor a finite number."""
    value = _reply(value)
    if value is None:
        return ""
    if not is_text(value):
        raise BadTask(f"row {number}: its demonstration is {type(value).__name__}", "write text")
    return _as_text(value)


def _as_text(value: str | int | float | Decimal) -> str:
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, float) and value.is_integer():  # 72.0 is what pandas makes of 72
        return str(int(value))
    return str(value)


def _level(number: int, level: Any) -> int:
    if isinstance(level, str) and level.isascii() and level.isdigit() and len(level) < 10:
        level = int(level)  # CSV holds nothing but text
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise BadTask(
            f"row {number}: level {level!r} is not a whole number of at least 1", "correct it"
        )
    return level
