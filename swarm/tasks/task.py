"""The interface of a task, built in or the user's own, to dataflow and training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from swarm.config.train import TrainConfig
from swarm.records import NO_LIMIT, Limit
from swarm.tasks.task_family import Problem


@dataclass(frozen=True)
class Score:
    """A judged completion. `reward` is None where it cannot be scored: such an episode enters
    neither baseline nor loss. `correct` is the true metric that evaluation counts; None where
    nothing says it."""

    reward: float | None
    correct: bool | None


class Answer(str):
    """A completion as text, with its tokens, and the version of the policy that it was sampled
    from: the number of batches behind it."""

    tokens: tuple[int, ...]
    version: int

    def __new__(cls, text: str, tokens: Sequence[int], version: int) -> "Answer":
        made = super().__new__(cls, text)
        made.tokens = tuple(tokens)
        made.version = version
        return made


class Task(Protocol):
    """Training problems without end, a fixed list of held-out ones, and a judge."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str:
        """sha256 of the user's files; empty for a built-in task, whose code is the product's."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be decided about the user's files, a line each."""
        ...

    @property
    def levels(self) -> tuple[int, int]:
        """The inclusive range of levels that training may ask."""
        ...

    @property
    def known_levels(self) -> tuple[int, ...]:
        """The levels in `levels` that problems exist of, ascending."""
        ...

    def draw(self, rng: np.random.Generator, levels: tuple[int, int]) -> Problem:
        """A random training problem whose level is in the inclusive range `levels`, which holds
        one of `known_levels`."""
        ...

    def evaluation(self, count: int) -> list[Problem]:
        """Held-out problems with distinct prompts, none of which is ever drawn; the same in every
        run. Raises BadTask where there are too few."""
        ...

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        """A worked answer, as supervised data shows it."""
        ...

    def encode(self, tokenizer: Any, problem: Problem) -> list[int]:
        """The prompt's tokens."""
        ...

    def score(self, problem: Problem, completions: Sequence[str]) -> list[Score]:
        """One score a completion; an `Answer` brings its tokens along. Raises RewardFailed where
        the user's function fails."""
        ...

    def check(self, tokenizer: Any, config: TrainConfig, limit: Limit = NO_LIMIT) -> None:
        """Raise Refusal, naming what is wrong, unless this config can run on this task with a model
        that takes rows of up to `limit`."""
        ...
