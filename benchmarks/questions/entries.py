"""The topics, and what a careful colleague would accept as an answer to each."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from ruamel.yaml import YAML

from swarm.config.base import JsonValue, Settings

HERE = Path(__file__).parent

#: A level, or several that are as good as one another; the text `any` stands for every level.
Wanted = JsonValue | list[JsonValue]


class Study(Settings):
    """A study that would be right. What is left out is the planner's to choose.

    `held` are TrainConfig paths, `budget` is in seconds, `better` the level that the topic claims
    to have more of the metric. `evaluation` holds `every`, `prompts`, `k`, `temperature`, `set`.
    `said` are words that the plan's notes must name: `a|b` is met by either. `converted` are
    numbers of the topic that the study holds in another form, as a length that becomes a share.
    """

    factors: dict[str, list[Wanted] | Literal["any"]] = Field(default_factory=dict)
    held: dict[str, Wanted] = Field(default_factory=dict)
    steps: int | None = None
    seeds: int | None = None
    model: str | None = None
    task: str | None = None
    evaluation: dict[str, JsonValue] = Field(default_factory=dict)
    metric: str | None = None
    budget: float | None = None
    better: JsonValue = None
    said: list[str] = Field(default_factory=list)
    converted: list[float] = Field(default_factory=list)


class Entry(Study):
    """A topic with the options of its command line. `names` are what a refusal must name, `or`
    holds studies as good as the one that the entry describes."""

    topic: str
    options: list[str] = Field(default_factory=list)
    answer: Literal["plan", "refuse", "either"]
    names: list[str] = Field(default_factory=list)
    others: list[Study] = Field(default_factory=list, alias="or")

    @property
    def studies(self) -> list[Study]:
        """Every study that would be right."""
        return [] if self.answer == "refuse" else [self, *self.others]

    @property
    def command(self) -> list[str]:
        """The arguments of `autoresearch start`."""
        return [self.topic, *(o.replace("{data}", str(HERE / "data")) for o in self.options)]


def read_entries(path: Path) -> list[Entry]:
    """The entries of a YAML file. Raises ValueError for one that is none."""
    found: list[dict[str, Any]] = YAML(typ="safe", pure=True).load(path.read_text())
    return [Entry.model_validate(each) for each in found]


def every_set() -> dict[str, list[Entry]]:
    """`open`, and `blind` where it is there."""
    files = {name: HERE / f"{name}.yaml" for name in ("open", "blind")}
    return {name: read_entries(path) for name, path in files.items() if path.exists()}
