"""Ask a function of the user's: whatever goes wrong is named with the function and the row."""

import asyncio
import inspect
import math
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from swarm.config.parts import TIME_LIMIT
from swarm.errors import RewardFailed, RewardOverdue, said
from swarm.tasks.calling import Overdue, users_code
from swarm.tasks.neighbours import PUT_IT_IN, by_design
from swarm.tasks.own_rows import Row

#: A function of the user's.
Function = Callable[..., Any]

#: What float32, in which advantages are kept, can hold.
LARGEST = float(np.finfo(np.float32).max)

#: Characters of a wrong value that a message shows.
_SHOWN = 60


@dataclass(frozen=True)
class Asked:
    """A function of the file `place`, a call of which may take `limit` seconds."""

    function: Function
    place: str
    limit: float = TIME_LIMIT

    @property
    def name(self) -> str:
        named = getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"{named} in {self.place}"

    def call(self, row: Row, ask: Callable[[Function], Any]) -> Any:
        """What `ask(function)` gives; a coroutine, and each of a list of them, is run to its end.
        Raises RewardFailed."""
        try:
            with _own_interrupts(), users_code(f"{self.name} on row {row.number}", self.limit):
                return _awaited(ask(self.function))
        except Overdue as late:
            raise RewardOverdue(self.name, late.limit, row.number) from None
        except _Interrupted:
            raise KeyboardInterrupt from None
        except BaseException as error:  # whatever it raises, it is the function's
            problem = f"raised {type(error).__name__}: {said(error)}"
            if why := by_design(error, Path(self.place)):
                raise self.failed(f"{problem} ({why})", row, PUT_IT_IN) from error
            raise self.failed(problem, row) from error

    def failed(self, problem: str, row: Row, *next_step: str) -> RewardFailed:
        return RewardFailed(self.name, problem, row.number, *next_step)

    def number(self, value: Any, row: Row) -> float:
        """A real number, or what numpy and torch hold one in. Raises RewardFailed."""
        number = math.nan
        try:
            if getattr(value, "shape", None) == ():
                value = value.item()
            if isinstance(value, Real | np.bool_):
                number = float(value)
        except BaseException:  # of a type of the user's own, or too large for a float
            number = math.nan
        if not math.isfinite(number) or abs(number) > LARGEST:
            raise self.failed(f"returned {_shown(value)}, which is not a finite number,", row)
        return number


def _awaited(value: Any) -> Any:
    if inspect.isawaitable(value):
        return asyncio.run(_all([value]))[0]
    if isinstance(value, list) and value and all(map(inspect.isawaitable, value)):
        return asyncio.run(_all(value))
    return value


async def _all(waiting: list[Awaitable[Any]]) -> list[Any]:
    return list(await asyncio.gather(*waiting))


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
