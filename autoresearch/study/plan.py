"""The plan of a study: what both planners write, and what is frozen before any trial.

`Plan` is complete: with a trial's arm, task and seed it determines that trial's `TrainConfig`.
Importing this module needs pydantic alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, model_validator

from autoresearch.study.rules import Decision
from swarm.config.algorithm import returns_before
from swarm.config.base import STORED, JsonValue, Settings, added, canonical_digest
from swarm.config.train import TrainConfig

Phase = Literal["pilot", "tuning", "confirm"]
Direction = Literal["greater", "less", "different"]
Profile = Literal["smoke", "quick", "full"]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


def is_text(line: str) -> bool:
    """Whether a string can be written as UTF-8: the shell's undecodable bytes cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in line)


def _line(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    if not is_text(text):
        raise ValueError("it holds bytes that are not UTF-8")
    return text


def repeated(values: Iterable[JsonValue]) -> list[JsonValue]:
    """The values that are there more than once. True is not 1."""
    counted = Counter((isinstance(value, bool), value) for value in values)
    return [value for (_, value), times in counted.items() if times > 1]


#: Text that says something.
Line = Annotated[str, AfterValidator(_line)]
#: Usable as a file's name.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._+-]*$")]

#: Paths whose values led to other configs before `algorithm.returns` was a setting.
READ_ANEW = frozenset(
    {
        "algorithm.name",
        "algorithm.baseline",
        "algorithm.kl_coef",
        "algorithm.kl_placement",
        "algorithm.correction.kind",
    }
)

#: Distance between the seeds of two copies of one configuration: more than any registered seed.
REPLICATE_STRIDE = 100_000_000


class Hypothesis(Settings):
    """A falsifiable claim: `metric` of `arm` against `versus`, by at least `min_effect`."""

    id: Name
    statement: Line
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

    id: Name
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

    pilot: tuple[Seed, ...]
    tuning: tuple[Seed, ...]
    confirm: tuple[Seed, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _apart(self) -> Self:
        used = [*self.pilot, *self.tuning, *self.confirm]
        if len(set(used)) != len(used):
            raise ValueError("pilot, tuning and confirm seeds overlap")
        return self


class Budget(Settings):
    """Hard limits; `trial_seconds` ends one attempt."""

    seconds: float = Field(gt=0)
    trial_seconds: float = Field(gt=0)
    retries: int = Field(default=2, ge=0)


class Plan(Settings):
    """A whole study, before it starts."""

    version: Literal[1] = 1
    topic: Line
    question: Line
    planner: Line
    playbook: Line
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
    digests: Mapping[str, Mapping[str, str]] = added(
        {}, description="task -> arm -> sha256 of the user's files, where arms have other data"
    )
    seeds: Seeds
    tuning: Tuning | None = None
    decision: Decision = Decision()
    budget: Budget
    metrics: tuple[str, ...] = Field(description="metrics that the report shows beside the primary")
    estimated_seconds: float = Field(ge=0)
    estimated_trial_seconds: float = Field(ge=0)
    notes: tuple[str, ...] = ()
    reading: Literal[0, 1] = added(
        0,
        description="0: levels mean what they did before algorithm.returns was a setting, which "
        "plans stored then do not say; 1, where it makes a difference: what they mean since",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_as_stored(cls, raw: Any, info: ValidationInfo) -> Any:
        """A plan made now is read as of now, a stored one as of when it was stored."""
        made_now = isinstance(raw, Mapping) and info.context != STORED
        return {**raw, "reading": 1} if made_now else raw

    @model_validator(mode="after")
    def _refers(self) -> Self:
        arms = {arm.id for arm in self.arms}
        for h in self.hypotheses:
            for name in (h.arm, h.versus):
                if name not in arms:
                    raise ValueError(f"hypothesis {h.id} names the unknown arm {name!r}")
        for kind, names in {
            "hypotheses": [h.id for h in self.hypotheses],
            "arms": [arm.id for arm in self.arms],
            "factors": [factor.name for factor in self.factors],
            "tasks": self.tasks,
        }.items():
            if twice := repeated(names):
                raise ValueError(f"{kind}: {twice[0]} is there twice")
        if self.model != self.train.model.ref:
            raise ValueError(f"model {self.model} is not train.model.ref {self.train.model.ref}")
        if any(one.levels == other.levels for one, other in combinations(self.arms, 2)):
            raise ValueError("two arms have the same levels")
        tested = {factor.name: factor for factor in self.treatments}
        for arm in self.arms:
            if unknown := arm.levels.keys() - tested.keys():
                raise ValueError(f"arm {arm.id} has a level of {min(unknown)}, not under test")
            for name, factor in tested.items():
                if name not in arm.levels:
                    raise ValueError(f"arm {arm.id} has no level of {name}")
                if arm.levels[name] not in factor.levels:
                    raise ValueError(
                        f"arm {arm.id}: {name} {arm.levels[name]!r} is not one of its levels"
                    )
        return self

    @model_validator(mode="after")
    def _own_paths(self) -> Self:
        """Seed, model and task are set by what the plan says of them, and by nothing else."""
        given = {f"factor {f.name}": f.paths for f in self.treatments}
        given |= {f"task_settings of {t}": frozenset(v) for t, v in self.task_settings.items()}
        if self.tuning:
            given["tuning"] = frozenset({self.tuning.path})
        for where, paths in given.items():
            if taken := paths & {"seed", "model.ref", "task.ref"}:
                raise ValueError(f"{where} sets {min(taken)}, which the plan names itself")
        for name, named in {"task_settings": self.task_settings, "digests": self.digests}.items():
            if unknown := named.keys() - set(self.tasks):
                raise ValueError(f"{name} name {min(unknown)}, which is not one of the tasks")
        return self

    @model_validator(mode="after")
    def _reading_where_it_matters(self) -> Self:
        """Leave the reading out of plans that mean the same either way: their digests stay."""
        if self.reading:
            before = self.__dict__ | {"reading": 0}
            paths = {path for factor in self.treatments for path in factor.paths}
            paths.update(*self.task_settings.values(), [self.tuning.path] if self.tuning else [])
            other = type(self).model_construct(**before)
            if not paths & READ_ANEW or self._resolved() == other._resolved():
                self.__dict__["reading"] = 0
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
        if arm_id in self.digests.get(task, {}):
            values["task.digest"] = self.digests[task][arm_id]
        values["seed"] = seed + REPLICATE_STRIDE * copy
        return self.train.with_values(values, before_returns=self._before_returns)

    @property
    def _before_returns(self) -> bool:
        """Whether levels mean what they did before `algorithm.returns` was a setting."""
        algorithm = self.train.algorithm
        return self.reading == 0 and algorithm.returns == returns_before(vars(algorithm))

    def _resolved(self) -> list[TrainConfig | None]:
        """The config of each arm and task, at the ends of the tuning range; None where refused."""
        tried: list[dict[str, JsonValue]] = [{}]
        if self.tuning:
            tried = [{self.tuning.path: end} for end in (self.tuning.low, self.tuning.high)]
        return [
            self._config_or_none(arm.id, task, nuisance)
            for arm, task, nuisance in product(self.arms, self.tasks, tried)
        ]

    def _config_or_none(
        self, arm: str, task: str, nuisance: Mapping[str, JsonValue]
    ) -> TrainConfig | None:
        try:
            return self.train_config(arm, task, 0, nuisance)
        except (ValidationError, KeyError):  # where levels are checked it has a name
            return None

    def digest(self) -> str:
        """The sha256 that the preregistration carries."""
        return canonical_digest(self.model_dump(mode="json"))
