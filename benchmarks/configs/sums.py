"""Sums of two numbers below 100, to be answered as `5 + 19 = 24` and nothing else.

A task of the user's own, as docs/own-tasks.md describes it. One worked example shows the form.
"""

import random
import re
from dataclasses import dataclass
from itertools import product
from typing import Any

#: What an answer in the asked form earns; the rest of the reward is for the right sum.
FORMAT_REWARD = 0.2

Message = dict[str, str]

#: The two numbers of the worked example, which is never asked for.
EXAMPLE = (12, 3)

_FORM = re.compile(r"(\d+) \+ (\d+) = (\d+)")


def _asked(a: int, b: int) -> list[Message]:
    """The chat that asks for a + b."""
    x, y = EXAMPLE
    return [
        {"role": "system", "content": "Answer in the form `a + b = N`."},
        {"role": "user", "content": f"What is {x} + {y}?"},
        {"role": "assistant", "content": f"{x} + {y} = {x + y}"},
        {"role": "user", "content": f"What is {a} + {b}?"},
    ]


@dataclass(frozen=True)
class Sums:
    """`rows` ask for sums; the columns `a` and `b` are the numbers."""

    rows: list[dict[str, Any]]

    def reward(
        self, prompts: list[Any], completions: list[list[Message]], **columns: list[int]
    ) -> list[float]:
        """FORMAT_REWARD for an equation of the two numbers, 1 if its sum is right as well."""
        sums, answers = _sums(columns), _answers(completions, columns)
        return [
            1.0 if answer == right else FORMAT_REWARD * (answer is not None)
            for right, answer in zip(sums, answers, strict=True)
        ]

    def correct(
        self, prompts: list[Any], completions: list[list[Message]], **columns: list[int]
    ) -> list[bool]:
        sums, answers = _sums(columns), _answers(completions, columns)
        return [answer == right for right, answer in zip(sums, answers, strict=True)]


def make(largest: int = 99) -> Sums:
    """Every sum of two numbers from 1 to `largest`, but for the example's, in a fixed random order:
    an evaluation takes the first held-out rows, which must be like all others."""
    pairs = [p for p in product(range(1, largest + 1), repeat=2) if p != EXAMPLE]
    random.Random(0).shuffle(pairs)
    return Sums([{"prompt": _asked(a, b), "a": a, "b": b} for a, b in pairs])


def _sums(columns: dict[str, list[int]]) -> list[int]:
    return [a + b for a, b in zip(columns["a"], columns["b"], strict=True)]


def _answers(completions: list[list[Message]], columns: dict[str, list[int]]) -> list[int | None]:
    """The N of each `a + b = N`; None for an answer in any other form, or of other numbers."""
    asked = zip(columns["a"], columns["b"], strict=True)
    found = [_FORM.fullmatch(message["content"].strip()) for (message,) in completions]
    return [
        int(match[3]) if match and (int(match[1]), int(match[2])) == numbers else None
        for match, numbers in zip(found, asked, strict=True)
    ]
