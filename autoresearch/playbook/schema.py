"""What a playbook file may hold: YAML that code checks, and a Markdown `body` for judgement.

A playbook is a template: it names factors of the catalogue, claims about them, and how much to
run. A topic fills it into a plan. `extends` takes everything from one other playbook; mappings
merge key by key (but `primary` is taken whole), lists and values replace, and `null` takes a key
away.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from autoresearch.study.plan import Direction, Profile
from swarm.config.base import JsonValue, Settings

SCHEMA = "autoresearch/playbook/v1"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
#: TrainConfig paths and values; a value `${name}` stands for a parameter.
Paths = Mapping[str, JsonValue]


class Parameter(Settings):
    """A number that a topic may fill: `256 rollouts`. Used as `${name}` in TrainConfig values."""

    type: Literal["int", "float"]
    default: float
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = Field(default=(), description="words that follow it in a topic")

    @model_validator(mode="after")
    def _inside(self) -> Self:
        self.value(self.default)
        return self

    def value(self, number: float) -> int | float:
        """The number in this parameter's type. Raises ValueError outside its range."""
        if (self.low is not None and number < self.low) or (
            self.high is not None and number > self.high
        ):
            raise ValueError(f"{number:g} is outside {self.low} to {self.high}")
        if self.type == "int" and not float(number).is_integer():
            raise ValueError(f"{number:g} is not a whole number")
        return int(number) if self.type == "int" else float(number)


class PlaybookFactor(Settings):
    """A catalogue factor under test. Levels and control default to the catalogue's."""

    name: str = Field(description="name of a factor in the catalogue")
    levels: tuple[JsonValue, ...] | None = Field(default=None, min_length=2)
    control: JsonValue = None


class PlaybookHypothesis(Settings):
    """A claim about one arm, or about each arm against the control where `arm` is left out.

    `arm` and `versus` give levels by factor; a factor left out stands at its control. In
    `statement`, `{arm}`, `{versus}`, `{metric}` and `{min_effect}` are filled in.
    """

    arm: Mapping[str, JsonValue] | None = None
    versus: Mapping[str, JsonValue] = Field(default_factory=dict)
    statement: str = "{metric} at {arm} differs from {versus} by at least {min_effect}."
    direction: Direction = "different"
    metric: str | None = Field(default=None, description="instead of the primary metric")
    min_effect: float | None = Field(default=None, gt=0)
    source: str = ""


class Primary(Settings):
    """The metric that answers the question. What is left out comes from the metric itself."""

    metric: str = "eval/acc"
    min_effect: float | None = Field(
        default=None, gt=0, description="smallest effect of interest, in the metric's unit"
    )
    prior_sd: float | None = Field(
        default=None, gt=0, description="guess of the SD over seeds; the pilot replaces it"
    )
    floor: float | None = Field(default=None, description="score of a diverged trial")


class PlaybookTuning(Settings):
    """A nuisance factor whose value is chosen once, on scores pooled over arms."""

    factor: str = "learning_rate"
    low: float
    high: float
    log: bool = True
    sampler: Literal["tpe", "grid"] = "tpe"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low {self.low:g} is not below high {self.high:g}")
        return self


class DecisionRules(Settings):
    """How scores become verdicts; looks come from the profile."""

    test: Literal["welch", "paired"] = "welch"
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    power: float = Field(default=0.8, gt=0, lt=1)
    last_evals: int = Field(default=3, ge=1, description="a score is the mean of these evals")


class ProfileSettings(Settings):
    """How much a profile runs. `minutes` is what it promises on two cores, where it does."""

    pilot: int = Field(ge=2, description="A/A seeds of the control arm")
    tuning_seeds: int = Field(default=1, ge=1)
    candidates: int = Field(default=3, ge=2, le=100, description="tuned values that are tried")
    looks: tuple[int, ...] = Field(min_length=1, description="seeds per arm at each look")
    tasks: tuple[str, ...] | None = Field(default=None, min_length=1)
    minutes: float | None = Field(default=None, gt=0)
    train: Paths = Field(default_factory=dict)

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.looks[0] < 2 or any(
            b <= a for a, b in zip(self.looks, self.looks[1:], strict=False)
        ):
            raise ValueError("looks must rise from 2 seeds or more")
        return self


class Recipe(Settings):
    """What holds for the models of one class, over the playbook's own values, which are those of
    `tiny`. `levels` are what is usually compared of a factor, the control first."""

    below: float | None = Field(
        default=None, gt=0, description="parameters; the least that fits is taken"
    )
    train: Paths = Field(default_factory=dict)
    own_rows: Paths = Field(default_factory=dict, description="with a task of the user's own")
    tuning: tuple[float, float] | None = Field(
        default=None, description="the range of a tuned learning rate"
    )
    levels: Mapping[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    values: Mapping[str, Mapping[str, Paths]] = Field(
        default_factory=dict, description="factor -> level -> paths and values"
    )
    notes: tuple[str, ...] = Field(
        default=(), description="limits that the report states, of `{model}` with `{size}`"
    )


class Match(Settings):
    """Which topics the playbook answers."""

    phrases: tuple[str, ...] = Field(default=(), description="a topic with one of these is its own")
    factors: tuple[tuple[str, ...], ...] = Field(
        default=(), description="a topic that names exactly one of these sets is its own"
    )
    topics: tuple[str, ...] = Field(default=(), description="example topics, searched by words")


class Playbook(Settings):
    """A playbook with everything it extends merged in."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        title="autoresearch playbook",
    )

    format: Literal["autoresearch/playbook/v1"] = Field(alias="schema")
    id: Name = Field(description="equal to the file's stem")
    extends: str | None = None
    abstract: bool = Field(default=False, description="only there to be extended")
    title: str
    question: str = ""
    match: Match = Match()
    params: Mapping[Name, Parameter] = Field(default_factory=dict)
    factors: tuple[PlaybookFactor, ...] = ()
    hypotheses: tuple[PlaybookHypothesis, ...] = ()
    primary: Primary = Primary()
    tuning: PlaybookTuning | None = None
    tasks: tuple[str, ...] = Field(default=("reverse",), min_length=1)
    model: str = "tiny"
    train: Paths = Field(default_factory=dict, description="fixed TrainConfig paths")
    task_settings: Mapping[str, Paths] = Field(
        default_factory=dict, description="TrainConfig paths that belong to a task"
    )
    metrics: tuple[str, ...] = Field(default=(), description="diagnostics shown in the report")
    decision: DecisionRules = DecisionRules()
    profiles: Mapping[Profile, ProfileSettings] = Field(default_factory=dict)
    notes: tuple[str, ...] = Field(default=(), description="limits that the report states")
    recipes: Mapping[Name, Recipe] = Field(
        default_factory=dict, description="for models other than `tiny`"
    )
    body: str = Field(default="", description="Markdown: how to judge and what to watch")
