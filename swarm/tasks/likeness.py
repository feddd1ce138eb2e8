"""Prompts that are the same, or differ in nothing but their form: within a task, between two."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from swarm.tasks.own_rows import Row
from swarm.tasks.task_family import Problem

#: Pairs that an `Overlap` names.
_NAMED = 3


def normalised(prompt: str) -> str:
    """The text that near-duplicates share: of compatible characters (NFKC) one, case folded, runs
    of white space one space, none at the ends."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", prompt).casefold())
    return " ".join(folded.split())


@dataclass(frozen=True)
class Overlap:
    """How many evaluation prompts are trained on: `exact` word for word, `normalised` after white
    space, case and form of characters are set aside, the former included. `examples` are the first
    pairs of row numbers, (evaluation, training)."""

    exact: int
    normalised: int
    examples: tuple[tuple[int, int], ...] = ()


def overlap(train: Iterable[Problem], evaluation: Iterable[Problem]) -> Overlap:
    """The overlap of the problems of two tasks; those that are no rows are numbered from 1."""
    exact: set[str] = set()
    seen: dict[str, int] = {}
    for number, problem in enumerate(train, 1):
        exact.add(problem.prompt)
        seen.setdefault(normalised(problem.prompt), _number(problem, number))
    same, pairs = 0, []
    for number, problem in enumerate(evaluation, 1):
        same += problem.prompt in exact
        trained = seen.get(normalised(problem.prompt))
        if trained is not None:
            pairs.append((_number(problem, number), trained))
    return Overlap(same, len(pairs), tuple(pairs[:_NAMED]))


def _number(problem: Problem, place: int) -> int:
    return problem.number if isinstance(problem, Row) else place
