"""What the catalogue says of one factor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from autoresearch.study.plan import Factor
from swarm.config.base import JsonValue
from swarm.config.paths import setting
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

Kind = Literal["float", "int", "choice", "replicate"]


@dataclass(frozen=True)
class Requirement:
    """What a config must satisfy for a factor to act in it.

    `repair` are TrainConfig paths that make it so; `code` names the lint problem it is otherwise.
    """

    code: str
    reason: str
    holds: Callable[[TrainConfig], bool]
    repair: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Null:
    """Settings under which two levels of a factor train to equal weights, bit for bit."""

    settings: Mapping[str, JsonValue]
    levels: tuple[JsonValue, JsonValue]


@dataclass(frozen=True)
class CatalogueFactor:
    """One setting that a study can put under test.

    sets          the TrainConfig paths that a level sets; none for replicates
    levels        what is usually compared
    two           the control and one other level, where not the first two of `levels`
    values        paths and values by level, where a level is more than one value
    bounds        the lowest and the highest level of a number, both allowed
    aliases       what researchers call the factor, separated by commas
    words         what they call its levels, likewise: these name the factor too
    hints         words that name a level only beside another name of the factor
    symbols       letters that name the factor only right before a number (`G=16`)
    everyday      which of these are everyday words too: alone they make no research topic
    yields_to     factors whose name takes over a mention of this one without a level
    units         words that a number of this factor may carry (`50 steps` of SFT)
    expected      the effect that the literature reports; `source` says where
    traps         how studies of it go wrong
    requires      settings it needs to act
    null_when     when it has no effect at all; `nulls` are instances that hold bit for bit
    probe         two levels that train apart within two small steps, where `pair` does not
    task          the task on which it can act, where that is not any task
    """

    name: str
    title: str
    sets: tuple[str, ...]
    levels: tuple[JsonValue, ...]
    aliases: str
    expected: str
    source: str
    two: tuple[JsonValue, JsonValue] | None = None
    bounds: tuple[float, float] | None = None
    null_when: str = "never"
    words: Mapping[JsonValue, str] = field(default_factory=dict)
    hints: Mapping[JsonValue, str] = field(default_factory=dict)
    everyday: str = ""
    yields_to: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    traps: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    nulls: tuple[Null, ...] = ()
    probe: tuple[JsonValue, JsonValue] | None = None
    task: str | None = None

    @property
    def pair(self) -> tuple[JsonValue, JsonValue]:
        """The control and one other level, for a study with room for two."""
        return self.two or (self.levels[0], self.levels[1])

    @property
    def control(self) -> JsonValue:
        """The level that others are compared against, unless the topic names another."""
        return self.pair[0]

    @cached_property
    def kind(self) -> Kind:
        """What a level is: a number as TrainConfig holds it, a name, or the label of a copy."""
        if not self.sets:
            return "replicate"
        if self.bounds is None:
            return "choice"
        return "int" if isinstance(setting(TrainConfig(), self.sets[0]), int) else "float"

    @property
    def paths(self) -> frozenset[str]:
        """Every TrainConfig path that some level sets."""
        return frozenset(self.sets).union(*self.values.values())

    @property
    def choices(self) -> tuple[JsonValue, ...]:
        """Every level of a choice: the usual ones and those that only have a name."""
        return tuple(dict.fromkeys((*self.levels, *self.words)))

    def assign(self, level: JsonValue) -> dict[str, JsonValue]:
        """The TrainConfig paths and values of a level. Raises Refusal as `check` does."""
        return self.treatment((self.check(level),), level).assign(level)

    def treatment(self, levels: tuple[JsonValue, ...], control: JsonValue) -> Factor:
        """This factor in a plan, with these levels under test. Raises Refusal as `check` does."""
        checked = tuple(self.check(level) for level in levels)
        return Factor(
            name=self.name,
            role="treatment",
            levels=checked,
            control=self.check(control),
            sets=self.sets,
            values={str(k): self.values[str(k)] for k in checked if str(k) in self.values},
        )

    def check(self, level: JsonValue) -> JsonValue:
        """The level in the factor's own type. Raises Refusal outside its range or choices."""
        if self.kind == "replicate":
            if isinstance(level, str) and level:
                return level
        elif self.bounds is None:
            if level in self.choices:
                return level
        elif isinstance(level, int | float) and not isinstance(level, bool):
            low, high = self.bounds
            whole = self.kind == "int" and float(level).is_integer()
            if low <= level <= high and (whole or self.kind == "float"):
                return int(level) if whole else float(level)
        raise Refusal(f"factor {self.name}", f"{level!r} is not one of its levels", self.allowed)

    @property
    def allowed(self) -> str:
        """Which levels there are, as a next step."""
        if self.kind == "replicate":
            return "any label will do"
        if self.bounds is None:
            return f"choose from {', '.join(str(level) for level in self.choices)}"
        low, high = self.bounds
        number = "a whole number" if self.kind == "int" else "a number"
        return f"give {number} from {low:g} to {high:g}"


def phrases(text: str) -> list[str]:
    """The phrases that a text separates by commas."""
    return [" ".join(phrase.split()) for phrase in text.split(",") if phrase.strip()]
