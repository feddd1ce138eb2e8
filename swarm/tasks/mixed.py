"""A task whose prompts come from several sources, each as often as its weight says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarm.config.base import canonical_digest
from swarm.config.parts import Source
from swarm.config.train import TrainConfig
from swarm.errors import BadTask, Refusal
from swarm.records import NO_LIMIT, Limit
from swarm.tasks.task import Score, Task
from swarm.tasks.task_family import Problem


@dataclass(frozen=True)
class Sourced(Problem):
    """A problem of the source `source`."""

    source: str
    problem: Problem


@dataclass(frozen=True)
class Mixture:
    """A `Task` over tasks. `weights` are by source; one of weight 0 is evaluated on and trains
    nothing. Held-out prompts are taken from the sources in turn."""

    sources: Mapping[str, Task]
    weights: Mapping[str, float]
    name: str = "mixture"

    @property
    def digest(self) -> str:
        """Over the sources' digests; weights are settings, and have no part in it."""
        return canonical_digest({name: task.digest for name, task in self.sources.items()})

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(f"{name}: {note}" for name, t in self.sources.items() for note in t.notes)

    @property
    def levels(self) -> tuple[int, int]:
        return self.known_levels[0], self.known_levels[-1]

    @property
    def known_levels(self) -> tuple[int, ...]:
        trained = [task for name, task in self.sources.items() if self.weights[name] > 0]
        return tuple(sorted({level for task in trained for level in task.known_levels}))

    def draw(self, rng: np.random.Generator, levels: tuple[int, int]) -> Sourced:
        """A source by its weight, of those with problems at these levels, then one of them."""
        within = {name: self._within(task, levels) for name, task in self.sources.items()}
        able = [name for name, found in within.items() if found and self.weights[name] > 0]
        weights = np.array([self.weights[name] for name in able], dtype=float)
        name = able[int(rng.choice(len(able), p=weights / weights.sum()))]
        return _sourced(name, self.sources[name].draw(rng, within[name] or levels))

    def evaluation(self, count: int) -> list[Problem]:
        """As many of each source as go into `count`, the first of each; what one lacks, others
        give. Where all have less, all of them."""
        lists = {name: self._held_out(task, count) for name, task in self.sources.items()}
        longest = max(map(len, lists.values()))
        found: dict[str, Problem] = {}
        for place in range(longest):
            for name, problems in lists.items():
                if place < len(problems):
                    found.setdefault(problems[place].prompt, _sourced(name, problems[place]))
        return list(found.values())[:count]

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        task, inner = self._of(problem)
        return task.demonstration(inner, rng)

    def encode(self, tokenizer: Any, problem: Problem) -> list[int]:
        task, inner = self._of(problem)
        return task.encode(tokenizer, inner)

    def score(self, problem: Problem, completions: Sequence[str]) -> list[Score]:
        task, inner = self._of(problem)
        return task.score(inner, completions)

    def check(self, tokenizer: Any, config: TrainConfig, limit: Limit = NO_LIMIT) -> None:
        """Raise Refusal, naming the source, unless this config can run on all of them."""
        order = config.data.order
        if order != "uniform" and self.levels[0] == self.levels[1]:
            raise BadTask(f"{order} needs problems of several levels", "add `level`", "data.order")
        each = config.with_values({"data.order": "uniform"})
        for name, task in self.sources.items():
            try:
                task.check(tokenizer, each, limit)
            except Refusal as error:
                raise of_source(name, error) from None

    def _of(self, problem: Problem) -> tuple[Task, Problem]:
        if not isinstance(problem, Sourced):
            raise TypeError(f"{problem!r} is of no source of this mixture")
        return self.sources[problem.source], problem.problem

    def _within(self, task: Task, levels: tuple[int, int]) -> tuple[int, int] | None:
        """The range of a task's levels that is within these; None where it has none there."""
        found = [level for level in task.known_levels if levels[0] <= level <= levels[1]]
        return (found[0], found[-1]) if found else None

    def _held_out(self, task: Task, count: int) -> list[Problem]:
        """The first `count` held-out problems of a source, or as many as there are."""
        share = -(-count // len(self.sources))
        try:
            return task.evaluation(count)
        except BadTask:  # a family with fewer
            return task.evaluation(share)


def of_source(name: str, error: Refusal) -> BadTask:
    """What is wrong with a source, where the user set it."""
    part = error.field.removeprefix("task").removeprefix(".")
    if part.partition(".")[0] in Source.model_fields:
        return BadTask(error.problem, error.next_step, f"task.sources.{name}.{part}")
    field = error.field if part else f"task.sources.{name}"
    return BadTask(
        f"{error.problem} (source {name})" if part else error.problem, error.next_step, field
    )


def _sourced(name: str, problem: Problem) -> Sourced:
    return Sourced(problem.prompt, problem.answer, problem.level, name, problem)
