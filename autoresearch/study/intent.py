"""What is asked, as a frozen record. Every planner fills one; `compose` turns it into a plan."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from autoresearch.study.plan import Direction, Line, Profile, Seed, repeated
from swarm.config.base import JsonValue, Settings
from swarm.config.parts import EvalSet

#: Questions that `compose` knows how to answer.
Kind = Literal["compare"]


class AskedFactor(Settings):
    """A factor under test. What it leaves out comes from the playbook, then from the catalogue."""

    name: str = Field(description="of the catalogue, or any path of a TrainConfig")
    levels: tuple[JsonValue, ...] = Field(default=(), description="in the order of the question")
    control: JsonValue = Field(default=None, description="the level that others are compared with")
    direction: Direction | None = Field(
        default=None, description="what is claimed of the other level"
    )

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if twice := repeated(self.levels):
            raise ValueError(f"{self.name}: level {twice[0]} is given twice")
        if self.control is not None and self.control not in self.levels:
            raise ValueError(f"{self.name}: control {self.control!r} is not among its levels")
        return self


RepairName = Literal[
    "take the nearest level",
    "fit the rollouts to the groups",
    "add a requirement",
    "drop a tuned factor that is under test",
    "widen a range",
]


class Repair(Settings):
    """A change that planning made to an intent so that a plan can answer it, `about` one thing.

    `settings` are TrainConfig paths that every arm takes, `factor` replaces the asked one.
    """

    name: RepairName
    about: str
    note: str
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    factor: AskedFactor | None = None


class Intent(Settings):
    """One question. `topic` is kept for people to read; nothing is planned by its words.

    `held` are factors at one level in every arm, `algorithm` the preset that is meant where no
    factor sets it, `set` TrainConfig paths that the user fixes, `parameters` the playbook's.
    `left_aside` has a line for each part of the question that is not answered or read otherwise.
    """

    kind: Kind = "compare"
    topic: Line
    planner: Line = "offline"
    playbook: Line = Field(description="the id or the file of the template")
    profile: Profile = "quick"
    factors: tuple[AskedFactor, ...] = ()
    held: Mapping[str, JsonValue] = Field(default_factory=dict, description="factor -> level")
    algorithm: Line | None = None
    set: Mapping[str, JsonValue] = Field(default_factory=dict)
    model: Line | None = Field(default=None, description="instead of the playbook's")
    task: Line | None = Field(default=None, description="built-in, data.jsonl or file.py:make")
    reward: Line | None = Field(default=None, description="of the task, a checker, or file.py:fn")
    evaluation: tuple[EvalSet, ...] = Field(default=(), description="instead of held-out prompts")
    eval_every: int | None = Field(default=None, ge=1, description="steps between evaluations")
    steps: int | None = Field(default=None, ge=1, description="instead of the profile's")
    seeds: int | None = Field(default=None, ge=2, description="confirmation seeds an arm")
    metric: Line | None = Field(default=None, description="instead of the playbook's primary one")
    parameters: Mapping[str, float] = Field(default_factory=dict)
    seed: Seed = 0
    budget_seconds: float | None = Field(default=None, gt=0)
    left_aside: tuple[Line, ...] = ()
    known: tuple[Line, ...] = Field(default=(), description="findings of earlier studies")
    repairs: tuple[Repair, ...] = Field(default=(), description="in the order they were made")

    @model_validator(mode="after")
    def _one_place_each(self) -> Self:
        names = [factor.name for factor in self.factors]
        if twice := repeated(names):
            raise ValueError(f"factors: {twice[0]} is under test twice")
        if both := set(names) & self.held.keys():
            raise ValueError(f"held: {min(both)} is under test too")
        return self

    def factor(self, name: str) -> AskedFactor | None:
        """What is asked of a factor under test."""
        return next((factor for factor in self.factors if factor.name == name), None)

    def repair(self, name: RepairName, about: str) -> Repair | None:
        """The repair of this name that was made, if it was."""
        made = (r for r in self.repairs if (r.name, r.about) == (name, about))
        return next(made, None)

    def repaired(self, repair: Repair) -> "Intent":
        """This intent with one more repair."""
        new = repair.factor
        factors = tuple(new if new and new.name == f.name else f for f in self.factors)
        return self.model_copy(update={"factors": factors, "repairs": (*self.repairs, repair)})
