"""The plan of a study: what both planners write, and what is frozen before any trial.

`Plan` is complete: with a trial's arm, task and seed it determines that trial's `TrainConfig`.
Importing this module needs pydantic alone.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Literal, Self

from pydantic import Field, model_validator

from swarm.config.base import JsonValue, Settings, canonical_digest
from swarm.config.train import TrainConfig

Phase = Literal["pilot", "tuning", "confirm"]
Direction = Literal["greater", "less", "different"]
Profile = Literal["smoke", "quick", "full"]

#: Distance between the seeds of two copies of one configuration: more than any registered seed.
REPLICATE_STRIDE = 100_000_000


class Hypothesis(Settings):
    """A falsifiable claim: `metric` of `arm` against `versus`, by at least `min_effect`."""

    id: str
    statement: str
    metric: str
    arm: str
    versus: str
    direction: Direction
    min_effect: float = Field(gt=0, description="delta, in the metric's unit")
    source: str = ""


class Factor(Settings):
    """A setting under test. `sets` names the TrainConfig paths each level changes.

    For a plain factor `sets` has one path and a level is its value. A factor whose level moves
    several paths lists them in `values[level]`. A replicate factor (A/A) sets nothing:
    its levels are copies of one configuration under other seeds.
    """

    name: str
    role: Literal["treatment", "nuisance", "block"]
    levels: tuple[JsonValue, ...] = Field(min_length=1)
    control: JsonValue = None
    sets: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, JsonValue]] = Field(default_factory=dict)

    @property
    def is_replicate(self) -> bool:
        return not self.sets and not self.values

    @property
    def paths(self) -> frozenset[str]:
        """Every TrainConfig path that some level sets."""
        return frozenset().union(*(self.assign(level) for level in self.levels))

    def assign(self, level: JsonValue) -> dict[str, JsonValue]:
        """The TrainConfig paths and values that this level stands for."""
        if str(level) in self.values:
            return dict(self.values[str(level)])
        return dict.fromkeys(self.sets, level)


class Arm(Settings):
    """One combination of treatment levels, by factor name."""

    id: str
    levels: Mapping[str, JsonValue]


class Tuning(Settings):
    """One nuisance value chosen once, on scores pooled over arms, before confirmation."""

    factor: str
    path: str
    low: float
    high: float
    log: bool = True
    candidates: int = Field(ge=1)
    sampler: Literal["tpe", "grid"] = "tpe"

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"tuning range {self.low} to {self.high} is not usable")
        return self


class Seeds(Settings):
    """Seeds by phase; no seed serves two phases. `confirm` lists the most that may be used."""

    pilot: tuple[int, ...]
    tuning: tuple[int, ...]
    confirm: tuple[int, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _apart(self) -> Self:
        used = [*self.pilot, *self.tuning, *self.confirm]
        if len(set(used)) != len(used):
            raise ValueError("pilot, tuning and confirm seeds overlap")
        return self


class Decision(Settings):
    """The registered rules by which scores become verdicts."""

    test: Literal["welch", "paired"] = "welch"
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    power: float = Field(default=0.8, gt=0, lt=1)
    looks: tuple[int, ...] = Field(default=(5,), min_length=1, description="seeds an arm, a look")
    last_evals: int = Field(default=3, ge=1, description="a score is the mean of these evals")
    floor: float = Field(default=0.0, description="score of a diverged trial")
    exploratory: bool = False


class Budget(Settings):
    """Hard limits; `trial_seconds` ends one attempt."""

    seconds: float = Field(gt=0, allow_inf_nan=False)
    trial_seconds: float = Field(gt=0, allow_inf_nan=False)
    retries: int = Field(default=2, ge=0)


class Plan(Settings):
    """A whole study, before it starts."""

    version: Literal[1] = 1
    topic: str
    question: str
    planner: str
    playbook: str
    profile: Profile
    hypotheses: tuple[Hypothesis, ...] = Field(min_length=1)
    factors: tuple[Factor, ...] = Field(min_length=1)
    arms: tuple[Arm, ...] = Field(min_length=2)
    tasks: tuple[str, ...] = Field(min_length=1)
    model: str
    train: TrainConfig
    task_settings: Mapping[str, Mapping[str, JsonValue]] = Field(
        default_factory=dict, description="TrainConfig paths that each task sets"
    )
    seeds: Seeds
    tuning: Tuning | None = None
    decision: Decision = Decision()
    budget: Budget
    metrics: tuple[str, ...] = Field(description="metrics that the report shows beside the primary")
    estimated_seconds: float
    estimated_trial_seconds: float
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _refers(self) -> Self:
        arms = {arm.id for arm in self.arms}
        for h in self.hypotheses:
            for name in (h.arm, h.versus):
                if name not in arms:
                    raise ValueError(f"hypothesis {h.id} names the unknown arm {name!r}")
        if len({h.id for h in self.hypotheses}) < len(self.hypotheses):
            raise ValueError("two hypotheses have the same id")
        if any(one.levels == other.levels for one, other in combinations(self.arms, 2)):
            raise ValueError("two arms have the same levels")
        for arm in self.arms:
            for factor in self.treatments:
                if factor.name not in arm.levels:
                    raise ValueError(f"arm {arm.id} has no level of {factor.name}")
                if factor.is_replicate and arm.levels[factor.name] not in factor.levels:
                    raise ValueError(f"arm {arm.id} is not a copy that {factor.name} lists")
        return self

    @property
    def treatments(self) -> tuple[Factor, ...]:
        return tuple(f for f in self.factors if f.role == "treatment")

    def arm(self, arm_id: str) -> Arm:
        """The arm of this id. Raises KeyError."""
        return {arm.id: arm for arm in self.arms}[arm_id]

    def train_config(
        self, arm_id: str, task: str, seed: int, nuisance: Mapping[str, JsonValue]
    ) -> TrainConfig:
        """The resolved config of one trial; `nuisance` maps TrainConfig paths to values.

        Arms share seeds, so that prompts and draws are common; copies of a replicate factor are
        told apart by their seeds alone.
        """
        values: dict[str, JsonValue] = {"task.ref": task, **self.task_settings.get(task, {})}
        values |= dict(nuisance)
        levels = self.arm(arm_id).levels
        copy = 0
        for factor in self.treatments:
            values |= factor.assign(levels[factor.name])
            if factor.is_replicate:
                copy = factor.levels.index(levels[factor.name])
        values["seed"] = seed + REPLICATE_STRIDE * copy
        return self.train.with_values(values)

    def digest(self) -> str:
        """The sha256 that the preregistration carries."""
        return canonical_digest(self.model_dump(mode="json"))


class TrialSpec(Settings):
    """One run that the plan asks for. `id` depends on all that could change its outcome."""

    study: str
    phase: Phase
    round: int
    arm: str
    task: str
    seed: int
    config: TrainConfig
    registration: str
    label: str = Field(default="", description="e.g. the tuning candidate it belongs to")

    @property
    def id(self) -> str:
        """First 16 hex digits of a sha256 over all that could change the outcome."""
        asked = (self.registration, self.phase, self.round, self.arm, self.task, self.seed)
        return canonical_digest([*asked, self.config.model_dump(mode="json")])[:16]


class TrialScore(Settings):
    """What analysis sees of one ended trial, on one metric."""

    trial: str
    metric: str
    phase: Phase
    arm: str
    task: str
    seed: int
    label: str = ""
    status: Literal["finished", "diverged", "failed"]
    value: float | None = Field(
        description="registered score; the floor if diverged; None if failed"
    )
