"""What a task family is: questions, worked answers, a true metric and named rewards."""

import hashlib
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

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
    left = _patience(0)
    while left and len(problems) < count:
        problem = any_problem(family, rng, levels)
        left -= 1
        if problem.split == "eval" and problem.prompt not in problems:
            problems[problem.prompt] = problem
            left = _patience(len(problems))
    return list(problems.values())


def _patience(found: int) -> int:
    """Draws without a new problem after which there are taken to be no more than `found`."""
    return DRAWS_PER_PROBLEM * HELD_OUT * (found + DRAWS_PER_PROBLEM)


def any_problem(family: TaskFamily, rng: np.random.Generator, levels: tuple[int, int]) -> Problem:
    """A random problem of either split, its level uniform over the inclusive range."""
    return family.problem(rng, int(rng.integers(levels[0], levels[1] + 1)))
