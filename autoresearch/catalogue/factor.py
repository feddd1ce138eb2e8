"""What the catalogue says of one factor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from autoresearch.study.plan import Factor
from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

Kind = Literal["float", "int", "choice", "replicate"]
NOTHING: Mapping[str, JsonValue] = MappingProxyType({})


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
    values        paths and values by level, where a level is more than one value
    control       the level that others are compared against, unless the topic names another
    levels        what is usually compared, control included; `pair` where there is room for two
    low, high     the range of a number, inclusive
    aliases       what researchers call the factor
    words         what they call its levels: these name the factor too
    hints         words that name a level only beside another name of the factor
    symbols       letters that name the factor only right before a number (`G=16`)
    yields_to     factors whose name takes over a mention of this one without a level
    units         words that a number of this factor may carry (`50 steps` of SFT)
    expected      the effect that the literature reports; `source` says where
    traps         how studies of it go wrong
    requires      settings it needs to act
    null_when     when it has no effect at all; `nulls` are instances that hold bit for bit
    probe         two levels that train apart within two small steps
    task          the task on which it can act, where that is not any task
    """

    name: str
    title: str
    kind: Kind
    sets: tuple[str, ...]
    control: JsonValue
    levels: tuple[JsonValue, ...]
    pair: tuple[JsonValue, JsonValue]
    aliases: tuple[str, ...]
    expected: str
    source: str
    null_when: str
    low: float | None = None
    high: float | None = None
    words: Mapping[JsonValue, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[JsonValue, tuple[str, ...]] = field(default_factory=dict)
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
        elif self.kind == "choice":
            if level in self.choices:
                return level
        elif isinstance(level, int | float) and not isinstance(level, bool):
            whole = self.kind == "int" and float(level).is_integer()
            inside = (self.low is None or level >= self.low) and (
                self.high is None or level <= self.high
            )
            if inside and (whole or self.kind == "float"):
                return int(level) if whole else float(level)
        raise Refusal(f"factor {self.name}", f"{level!r} is not one of its levels", self.allowed)

    @property
    def allowed(self) -> str:
        """Which levels there are, as a next step."""
        if self.kind == "replicate":
            return "any label will do"
        if self.kind == "choice":
            return f"choose from {', '.join(str(level) for level in self.choices)}"
        number = "a whole number" if self.kind == "int" else "a number"
        return f"give {number} from {self.low:g} to {self.high:g}"
