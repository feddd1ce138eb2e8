"""What a task family is: questions, worked answers, a true metric and named rewards."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from swarm.config.base import JsonValue

Split = Literal["train", "eval"]

#: Share of all prompts that is held out: one in this many.
HELD_OUT = 8

#: Evaluation problems drawn, on average, for each distinct one before the search is given up.
DRAWS_PER_PROBLEM = 16


@dataclass(frozen=True)
class Problem:
    """A question, its answer, and how hard it is (in the family's own unit)."""

    prompt: str
    answer: str
    level: int

    @property
    def split(self) -> Split:
        """Train or eval, by the hash of the prompt alone: the two can never share a prompt."""
        digest = hashlib.sha256(self.prompt.encode()).digest()
        return "eval" if digest[0] % HELD_OUT == 0 else "train"


class TaskFamily(Protocol):
    """A family of problems with one true metric, `correct`."""

    name: str
    rewards: tuple[str, ...]
    levels: tuple[int, int]

    def problem(self, rng: np.random.Generator, level: int) -> Problem:
        """A random problem of this level."""
        ...

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        """A correct completion, as supervised data shows it."""
        ...

    def correct(self, problem: Problem, completion: str) -> bool: ...

    def reward(self, name: str, problem: Problem, completion: str) -> float:
        """The named reward in [0, 1]. Raises KeyError for a name not in `rewards`."""
        ...


def levels_of(family: TaskFamily, args: Mapping[str, JsonValue]) -> tuple[int, int]:
    """The inclusive range of levels from `args` (min, max) or the family's own.

    Raises ValueError naming the argument when it is unknown, no integer or an empty range.
    """
    unknown = set(args) - {"min", "max"}
    if unknown:
        raise ValueError(f"task.args.{sorted(unknown)[0]} is unknown; known: min, max")
    low, high = args.get("min", family.levels[0]), args.get("max", family.levels[1])
    if not isinstance(low, int) or not isinstance(high, int) or not 1 <= low <= high:
        raise ValueError(f"task.args min {low!r} and max {high!r} are not a range of whole numbers")
    return low, high


def draw(
    family: TaskFamily, split: Split, rng: np.random.Generator, levels: tuple[int, int]
) -> Problem:
    """A random problem of a split, its level uniform over the inclusive range."""
    while True:
        problem = any_problem(family, rng, levels)
        if problem.split == split:
            return problem


def held_out(family: TaskFamily, count: int, levels: tuple[int, int]) -> list[Problem]:
    """The first `count` distinct evaluation problems, or fewer where no more are found: short
    prompts are few. The same in every run."""
    rng = np.random.Generator(np.random.Philox(20_260_101))
    problems: dict[str, Problem] = {}
    for _ in range(DRAWS_PER_PROBLEM * HELD_OUT * count):
        problem = any_problem(family, rng, levels)
        if problem.split == "eval":
            problems.setdefault(problem.prompt, problem)
        if len(problems) == count:
            break
    return list(problems.values())


def any_problem(family: TaskFamily, rng: np.random.Generator, levels: tuple[int, int]) -> Problem:
    """A random problem of either split, its level uniform over the inclusive range."""
    return family.problem(rng, int(rng.integers(levels[0], levels[1] + 1)))
