"""A built-in family at given levels, with one of its rewards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.records import NO_LIMIT, Limit
from swarm.tasks.task import Score
from swarm.tasks.task_family import Problem, TaskFamily, draw, held_out

#: A level is about a length in characters; beyond this no model here has a context.
HIGHEST_LEVEL = 100_000


@dataclass(frozen=True)
class BuiltIn:
    """A `Task` over a family. Prompts are raw text for every model."""

    family: TaskFamily
    levels: tuple[int, int]
    reward: str = "exact"
    digest: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.family.name

    @property
    def known_levels(self) -> tuple[int, ...]:
        return tuple(range(self.levels[0], self.levels[1] + 1))

    def draw(self, rng: np.random.Generator, levels: tuple[int, int]) -> Problem:
        return draw(self.family, "train", rng, levels)

    def evaluation(self, count: int) -> list[Problem]:
        problems = held_out(self.family, count, self.levels)
        if len(problems) < count:
            raise BadTask(
                f"{count} is more than the {len(problems)} held-out prompts that {self.name!r} has "
                f"at levels {self.levels[0]} to {self.levels[1]}",
                "ask for fewer, or set other levels",
                "evaluation.prompts",
            )
        return problems

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        return self.family.demonstration(problem, rng)

    def encode(self, tokenizer: Any, problem: Problem) -> list[int]:
        return list(tokenizer.encode(problem.prompt, add_special_tokens=False))

    def score(self, problem: Problem, completions: Sequence[str]) -> list[Score]:
        return [
            Score(
                self.family.reward(self.reward, problem, text), self.family.correct(problem, text)
            )
            for text in completions
        ]

    def check(self, tokenizer: Any, config: TrainConfig, limit: Limit = NO_LIMIT) -> None:
        """The built-in families can be asked of any model."""


def levels_of(family: TaskFamily, args: Mapping[str, JsonValue]) -> tuple[int, int]:
    """The inclusive range of levels from `args` (min, max) or the family's own.

    Raises BadTask naming the argument when it is unknown, not an integer, or an empty range.
    """
    unknown = set(args) - {"min", "max"}
    if unknown:
        raise BadTask("it is unknown", "known: min, max", f"task.args.{sorted(unknown)[0]}")
    low, high = args.get("min", family.levels[0]), args.get("max", family.levels[1])
    if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= HIGHEST_LEVEL):
        raise BadTask(
            f"min {low!r} and max {high!r} are not a range of whole numbers",
            f"give whole numbers from 1 to {HIGHEST_LEVEL}, min at most max",
            "task.args",
        )
    return low, high
