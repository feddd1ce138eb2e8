"""Who scores the completions of a user's row: exact match, or the user's own functions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np

from swarm.errors import RewardFailed
from swarm.tasks.own_rows import Row
from swarm.tasks.task import Score

#: `f(prompts, completions, **columns)`, as TRL's reward functions are called.
Function = Callable[..., Any]

#: A reward from here on counts as correct where the user names no true metric.
CORRECT_FROM = 1.0


class Judge(Protocol):
    """Scores the completions of one row."""

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]: ...


def exact_match(row: Row, completions: Sequence[str]) -> list[Score]:
    """1 for the row's `answer`, white space around it aside, else 0."""
    right = [text.strip() == row.answer.strip() for text in completions]
    return [Score(float(same), same) for same in right]


@dataclass(frozen=True)
class OwnJudge:
    """The user's `reward` and, for the true metric, `correct`; `place` is the file they are in."""

    reward: Function
    correct: Function | None
    place: str

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]:
        """One call of each function a row. Raises RewardFailed naming the function and the row."""
        rewards = [
            None if value is None else self._number(self.reward, value, row)
            for value in self._call(self.reward, row, completions)
        ]
        if self.correct is None:
            return [Score(r, r is not None and r >= CORRECT_FROM) for r in rewards]
        flags = [
            bool(self._number(self.correct, value, row))
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
        try:
            values = function(prompts=prompts, completions=answers, **columns)
        except (Exception, SystemExit) as error:
            problem = f"raised {type(error).__name__}: {' '.join(str(error).split())}"
            raise RewardFailed(self._name(function), problem, row.number) from error
        if not isinstance(values, list | tuple):
            problem = f"returned {type(values).__name__}, not a list,"
            raise RewardFailed(self._name(function), problem, row.number)
        if len(values) != n:
            problem = f"returned {len(values)} values for {n} completions"
            raise RewardFailed(self._name(function), problem, row.number)
        return values

    def _number(self, function: Function, value: Any, row: Row) -> float:
        number = float(value) if isinstance(value, Real | np.bool_) else math.nan
        if not math.isfinite(number):
            problem = f"returned {value!r}, which is not a finite number,"
            raise RewardFailed(self._name(function), problem, row.number)
        return number

    def _name(self, function: Function) -> str:
        return f"{getattr(function, '__qualname__', type(function).__name__)} in {self.place}"
