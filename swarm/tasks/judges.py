"""Who scores the completions of a user's row: exact match, or the user's own functions."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import numpy as np

from swarm.config.parts import TIME_LIMIT
from swarm.errors import RewardFailed, RewardOverdue, said
from swarm.tasks.calling import Overdue, users_code
from swarm.tasks.neighbours import PUT_IT_IN, by_design
from swarm.tasks.own_rows import Row
from swarm.tasks.refs import CORRECT_FROM
from swarm.tasks.task import Score

#: `f(prompts, completions, **columns)`, as TRL's reward functions are called.
Function = Callable[..., Any]

#: What float32, in which advantages are kept, can hold.
LARGEST = float(np.finfo(np.float32).max)

#: Characters of a wrong value that a message shows.
_SHOWN = 60


class Judge(Protocol):
    """Scores the completions of one row."""

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]: ...


def exact_match(row: Row, completions: Sequence[str]) -> list[Score]:
    """1 for the row's `answer`, white space around it aside, else 0."""
    right = [text.strip() == row.answer.strip() for text in completions]
    return [Score(float(same), same) for same in right]


@dataclass(frozen=True)
class OwnJudge:
    """The user's `reward` and, for the true metric, `correct`; `place` is the file they are in. A
    call may take `limit` seconds."""

    reward: Function
    correct: Function | None
    place: str
    limit: float = TIME_LIMIT

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]:
        """One call of each function a row. Raises RewardFailed naming the function and the row."""
        rewards = [
            None if value is None else self._number(self.reward, value, row)
            for value in self._call(self.reward, row, completions)
        ]
        if self.correct is None:
            return [Score(r, None if r is None else r >= CORRECT_FROM) for r in rewards]
        flags = [
            None if value is None else bool(self._number(self.correct, value, row))
            for value in self._call(self.correct, row, completions)
        ]
        return [Score(r, flag) for r, flag in zip(rewards, flags, strict=True)]

    def _call(self, function: Function, row: Row, completions: Sequence[str]) -> Sequence[Any]:
        n = len(completions)
        prompts: list[Any] = [row.prompt] * n
        answers: list[Any] = list(completions)
        if row.messages:
            prompts = [list(row.messages)] * n
            answers = [[{"role": "assistant", "content": text}] for text in completions]
        columns = {name: [value] * n for name, value in row.columns.items()}
        name = self._name(function)
        try:
            with _own_interrupts(), users_code(f"{name} on row {row.number}", self.limit):
                values = function(prompts=prompts, completions=answers, **columns)
        except Overdue as late:
            raise RewardOverdue(name, late.limit, row.number) from None
        except _Interrupted:
            raise KeyboardInterrupt from None
        except BaseException as error:  # whatever it raises, it is the function's
            problem = f"raised {type(error).__name__}: {said(error)}"
            if why := by_design(error, Path(self.place)):
                raise RewardFailed(name, f"{problem} ({why})", row.number, PUT_IT_IN) from error
            raise RewardFailed(name, problem, row.number) from error
        if not isinstance(values, list | tuple):
            problem = f"returned {type(values).__name__}, not a list,"
            raise RewardFailed(name, problem, row.number)
        if len(values) != n:
            problem = f"returned {len(values)} values for {n} completions"
            raise RewardFailed(name, problem, row.number)
        return values

    def _number(self, function: Function, value: Any, row: Row) -> float:
        """A real number, or what numpy and torch hold one in."""
        number = math.nan
        try:
            if getattr(value, "shape", None) == ():
                value = value.item()
            if isinstance(value, Real | np.bool_):
                number = float(value)
        except BaseException:  # of a type of the user's own, or too large for a float
            number = math.nan
        if not math.isfinite(number) or abs(number) > LARGEST:
            problem = f"returned {_shown(value)}, which is not a finite number,"
            raise RewardFailed(self._name(function), problem, row.number)
        return number

    def _name(self, function: Function) -> str:
        return f"{getattr(function, '__qualname__', type(function).__name__)} in {self.place}"


class _Interrupted(BaseException):
    """Someone pressed Ctrl-C while the user's function ran, which is not an error in it."""


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Tell a KeyboardInterrupt that a signal caused from one that the block raises by itself."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    inner = before

    def receive(number: int, frame: FrameType | None) -> None:
        try:
            inner(number, frame)
        except KeyboardInterrupt:
            raise _Interrupted from None

    signal.signal(signal.SIGINT, receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _shown(value: Any) -> str:
    """A value as a message shows it, whatever its own text does."""
    try:
        text = " ".join(repr(value).split())
    except (
        BaseException
    ):  # of a type of the user's own; an integer of thousands of digits has no text
        text = f"a value of {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
