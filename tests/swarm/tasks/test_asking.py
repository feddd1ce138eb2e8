"""A function of the user's is asked, and what goes wrong is named with its row."""

import asyncio
import re
from typing import Any

import numpy as np
import pytest
import torch

from swarm.errors import RewardFailed, RewardOverdue
from swarm.tasks.asking import LARGEST, Asked
from swarm.tasks.own_rows import row

ROW = row(7, {"prompt": "a>", "answer": "b"})


def asked(function: Any, limit: float = 30.0) -> Any:
    return Asked(function, "mine.py", limit).call(ROW, lambda f: f())


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


def test_what_it_gives_and_what_a_coroutine_gives() -> None:
    assert asked(lambda: 3) == 3
    assert asked(lambda: later(4)) == 4
    assert asked(lambda: [later(1), later(2)]) == [1, 2]


@pytest.mark.parametrize(
    "error", [ValueError("no\nsuch"), SystemExit(3), KeyboardInterrupt(), AssertionError()]
)
def test_whatever_it_raises_is_its_own(error: BaseException) -> None:
    def fails() -> None:
        raise error

    named = re.escape(f"raised {type(error).__name__}") + ".*row 7"
    with pytest.raises(RewardFailed, match=named) as found:
        asked(fails)
    assert "fails in mine.py" in str(found.value)
    assert "\n" not in str(found.value)


def test_what_hangs_is_overdue() -> None:
    with pytest.raises(RewardOverdue, match="row 7"):
        asked(lambda: asyncio.sleep(60), limit=0.2)


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (True, 1.0), (np.float32(0.5), 0.5), (np.bool_(True), 1.0), (torch.tensor(2), 2.0)],
)
def test_numbers(value: Any, number: float) -> None:
    assert Asked(len, "mine.py").number(value, ROW) == number


@pytest.mark.parametrize(
    "value", ["1", None, float("nan"), float("inf"), 2 * LARGEST, 10**400, [1.0], torch.ones(1)]
)
def test_what_is_no_number_is_named(value: Any) -> None:
    with pytest.raises(RewardFailed, match="which is not a finite number"):
        Asked(len, "mine.py").number(value, ROW)
