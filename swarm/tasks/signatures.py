"""How a reward function of the user's wants to be called: as TRL calls one, or as verl does."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from swarm.errors import BadTask, did_you_mean
from swarm.tasks.own_rows import Row

#: What TRL passes besides prompts, completions and columns.
EXTRAS = ("completion_ids", "trainer_state", "log_extra", "log_metric")

#: What a function in TRL's signature is called with, whatever columns rows have.
RESERVED = ("prompts", "completions", *EXTRAS)

#: What verl passes.
OF_VERL = ("data_source", "solution_str", "ground_truth", "extra_info")


@dataclass(frozen=True)
class Signature:
    """The names that a function takes, those without a default, and whether it takes any other."""

    takes: tuple[str, ...]
    needs: tuple[str, ...]
    others: bool

    def chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that the function takes, by name."""
        return {name: v for name, v in values.items() if self.others or name in self.takes}

    @property
    def kind(self) -> Literal["trl", "verl"] | None:
        """Whose function it is by its names; None where they say neither."""
        if {"solution_str", "ground_truth"} <= set(self.takes):
            return "verl"
        if "completions" in self.takes or (self.others and not self.needs):
            return "trl"
        return None


def signature_of(function: Callable[..., Any]) -> Signature | None:
    """None for what has none that Python can tell, and for one with positional parameters alone."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        return None
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return Signature(
        tuple(p.name for p in named),
        tuple(p.name for p in named if p.default is p.empty),
        any(p.kind is p.VAR_KEYWORD for p in parameters),
    )


def check_reserved(rows: Iterable[Row], field: str = "task") -> None:
    """Raise BadTask where a column of the rows has the name of something that a reward function is
    given besides: it would be judged in the place of what the policy wrote."""
    for row in rows:
        if name := next((n for n in RESERVED if n in row.columns), None):
            raise BadTask(
                f"row {row.number} has a column {name!r}, which is the name of what a reward "
                "function is given besides columns",
                "rename the column",
                field,
            )


def check_columns(name: str, signature: Signature, rows: Iterable[Row]) -> None:
    """Raise BadTask where a row lacks a column that the function has to be given."""
    wanted = [n for n in signature.needs if n not in RESERVED]
    for row in rows:
        for missing in (n for n in wanted if n not in row.columns):
            raise BadTask(
                f"{name} takes {missing!r}, and row {row.number} has "
                f"{', '.join(map(repr, row.columns)) or 'no other columns'}",
                f"rename the parameter or the column; {did_you_mean(missing, row.columns)}"
                if row.columns
                else "give the rows this column",
                "task.reward",
            )
