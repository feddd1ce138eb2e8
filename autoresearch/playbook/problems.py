"""A problem of a playbook or a plan, under a code that stays stable.

PB0xx  the file: YAML, keys, types, inheritance
PB1xx  references: factors, levels, metrics, tasks, rewards, TrainConfig paths
PB2xx  design: treatments, controls, hypotheses, seeds, equal tuning
PB3xx  feasibility: time and power
PB4xx  traps: settings under which a factor cannot act
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swarm.errors import Refusal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """`line` counts from 1; 0 where the problem belongs to no line of the file.

    `at` is the place in the document, as keys and list positions.
    """

    code: str
    message: str
    severity: Severity = "error"
    line: int = 0
    at: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.code} {self.message}"


class MalformedPlaybook(Refusal):
    """A playbook that cannot be used; `problems` says why, worst first."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(
            "playbook",
            f"{path}:{first.line or 1}: {first.code} {first.message}{more}",
            f"run: autoresearch playbook lint {path}",
        )
        self.problems = problems
