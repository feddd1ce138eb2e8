"""Which column is the question and which the answer, by the names that the field uses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from swarm.errors import BadTask, did_you_mean

#: What `task.columns` may name.
OURS = ("prompt", "answer", "demonstration", "level")

#: Names of the question in the layout of this house, which go before all others.
HOUSE = ("prompt", "messages")

#: The question in ShareGPT's layout, beside which a column `system` may stand.
CONVERSATIONS = "conversations"

#: Names of the question elsewhere, and of its answer, with the layout that they are known from.
_QUESTIONS = ("question", "problem", "input", "instruction", "query", CONVERSATIONS)
_ANSWERS = ("answer", "solution", "label", "ground_truth", "output", "response", "completion")

#: (question, answer) -> layout.
_KNOWN = MappingProxyType(
    {
        ("prompt", "solution"): "TRL",
        ("prompt", "completion"): "TRL's prompt-completion",
        ("prompt", "reward_model.ground_truth"): "verl",
        ("prompt", "label"): "OpenRLHF",
        ("input", "label"): "OpenRLHF",
        ("input", "answer"): "OpenRLHF",
        ("input", "output"): "OpenRLHF",
        (CONVERSATIONS, ""): "ShareGPT",
    }
)

#: What comes before the answer in the last line of a worked solution in GSM8K.
MARK = "####"
MARKED = re.compile(r"(?:^|\n)####[ \t]*+(\S(?:[^\n]*\S)?)\s*\Z")

#: Where verl's rows hold the right answer.
VERL = "reward_model.ground_truth"


@dataclass(frozen=True)
class Layout:
    """What rows call things: `columns` maps `prompt`, `answer`, `demonstration` and `level` to
    their column, a dotted path where one holds another. `name` is the layout that is recognised,
    empty for this house's own. `cut` says that answers follow a `####`. `rivals` are columns that
    might be the answer as well as each other: none of them is taken."""

    columns: Mapping[str, str]
    name: str = ""
    cut: bool = False
    rivals: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The layout in one line; empty for this house's own, where nothing had to be guessed."""
        if not self.name:
            return ""
        pairs = [f"{ours} is {theirs!r}" for ours, theirs in self.columns.items()]
        if self.cut:
            pairs = [f"{p}, what follows {MARK}" if p.startswith("answer") else p for p in pairs]
        return f"rows are read as {self.name}: {', '.join(pairs)}"

    def get(self, raw: Mapping[str, Any], ours: str) -> Any:
        """A row's value, None where it has none. `messages` is another name for the house's own
        `prompt`, row by row."""
        value = at(raw, self.columns.get(ours, ours))
        house = self.columns.get(ours, ours) in HOUSE
        return raw.get("messages") if ours == "prompt" and house and value is None else value


#: Rows in the form of docs/own-tasks.md.
OWN = Layout({})


def at(raw: Any, path: str) -> Any:
    """The value of a column, or of a dotted path into it; None where there is none."""
    if isinstance(raw, Mapping) and path in raw:
        return raw[path]
    first, dot, rest = path.partition(".")
    return at(raw.get(first), rest) if dot and isinstance(raw, Mapping) else None


def layout_of(rows: Sequence[tuple[int, Mapping[str, Any]]], given: Mapping[str, str]) -> Layout:
    """The layout of numbered rows whose columns are partly `given`. Raises BadTask for a map of
    columns that the rows do not have, and for rows with two columns that may be the question."""
    raws = [raw for _, raw in rows]
    columns = _columns(raws)
    _check_given(raws, given, columns)
    prompt = given.get("prompt") or _question(columns)
    answer = given.get("answer", "")
    rivals: tuple[str, ...] = ()
    if not answer:
        answer, rivals = _answer(raws, columns, {prompt, *given.values()}, prompt in HOUSE)
    if not given and prompt in ("", *HOUSE) and answer in ("", "answer"):
        return Layout({}, rivals=rivals)
    cut = prompt not in HOUSE and bool(answer) and _cut(rows, answer)
    found = {**given, **{k: v for k, v in (("prompt", prompt), ("answer", answer)) if v}}
    ordered = {ours: found[ours] for ours in OURS if ours in found}
    return Layout(ordered, _name(prompt, answer, cut, given), cut, rivals)


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Every column that some row has a value in, with the first."""
    found: dict[str, Any] = {}
    for raw in rows:
        for name, value in raw.items():
            if value is not None:
                found.setdefault(name, value)
    return found


def _check_given(
    rows: Sequence[Mapping[str, Any]], given: Mapping[str, str], columns: Mapping[str, Any]
) -> None:
    for ours, theirs in given.items():
        if ours not in OURS:
            raise BadTask(
                "rows have no such part", did_you_mean(ours, OURS), f"task.columns.{ours}"
            )
        if rows and all(at(raw, theirs) is None for raw in rows):
            raise BadTask(
                f"the rows have no column {theirs!r}",
                did_you_mean(theirs, columns),
                f"task.columns.{ours}",
            )


def _question(columns: Mapping[str, Any]) -> str:
    """The column of the question; empty where none has a name that is known."""
    if "prompt" in columns:
        return "prompt"
    named = [name for name in (*HOUSE, *_QUESTIONS) if name in columns]
    if len(named) > 1:
        raise BadTask(
            f"rows hold {' and '.join(map(repr, named))}, and either may be the question",
            f"say which: task.columns.prompt={named[0]}",
            "task.columns.prompt",
        )
    return named[0] if named else ""


def _answer(
    raws: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], taken: set[str], house: bool
) -> tuple[str, tuple[str, ...]]:
    """The column of the answer, or those among which none can be told from the others."""
    named = [name for name in _ANSWERS if name in columns and name not in taken]
    if any(at(raw, VERL) is not None for raw in raws):
        named.append(VERL)
    if house and "answer" in named and VERL not in named:
        return "answer", ()
    if len(named) > 1:
        return "", tuple(named)
    return (named[0] if named else ""), ()


def _cut(rows: Sequence[tuple[int, Mapping[str, Any]]], answer: str) -> bool:
    """Whether every answer ends with a line `#### …`. Raises BadTask where only some do."""
    marked = [isinstance(v := at(raw, answer), str) and bool(MARKED.search(v)) for _, raw in rows]
    if any(marked) and not all(marked):
        number = rows[marked.index(False)][0]
        raise BadTask(
            f"row {number}: its {answer!r} does not end with a line '{MARK} …', and others do",
            "write them all in one way",
        )
    return any(marked)


def _name(prompt: str, answer: str, cut: bool, given: Mapping[str, str]) -> str:
    if given:
        return "task.columns says"
    if cut and (prompt, answer) == ("question", "answer"):
        return "GSM8K"
    known = _KNOWN.get((prompt, "" if prompt == CONVERSATIONS else answer))
    return known or (f"{prompt} and {answer}" if prompt and answer else prompt or answer)
