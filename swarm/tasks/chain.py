"""`chain`: a family whose answers may be of any length."""

import re

import numpy as np

from swarm.tasks.task_family import Problem


class Chain:
    """`C:3517>` -> any working, then `#6`: the largest digit less the smallest.

    Working is a run of ranges so far, as many as the policy likes, so the length of an
    answer is free and only its end is judged. Demonstrations leave out or repeat parts of the
    working at random. The level is the number of digits. Rewards: exact, format (digits, then
    `#` and one digit).
    """

    name: str = "chain"
    rewards: tuple[str, ...] = ("exact", "format")
    levels: tuple[int, int] = (4, 8)

    def problem(self, rng: np.random.Generator, level: int) -> Problem:
        digits = rng.integers(0, 10, level)
        return Problem(f"C:{''.join(map(str, digits))}>", str(np.ptp(digits)), level)

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        digits = np.array([int(c) for c in problem.prompt[2:-1]])
        ranges = np.maximum.accumulate(digits) - np.minimum.accumulate(digits)
        working = "".join(str(d) * int(rng.choice((0, 1, 1, 2))) for d in ranges)
        return f"{working}#{problem.answer}"

    def correct(self, problem: Problem, completion: str) -> bool:
        return completion.endswith(f"#{problem.answer}") and completion.count("#") == 1

    def reward(self, name: str, problem: Problem, completion: str) -> float:
        return {
            "exact": float(self.correct(problem, completion)),
            "format": float(re.fullmatch(r"\d*#\d", completion) is not None),
        }[name]
