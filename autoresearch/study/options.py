"""What the user asks of `start`: parsed before anything is planned, written as a command again."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from autoresearch.study.plan import Profile
from swarm.config.base import JsonValue, Settings
from swarm.errors import Refusal

_UNITS: Mapping[str, float] = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_PATH = re.compile(r"[a-z_]+(?:\.[a-z0-9_]+)*")
LARGEST_SEED = 2**31 - 1
_FLAGS: Mapping[str, str] = {
    "playbook": "--playbook",
    "profile": "--profile",
    "model": "--model",
    "task": "--task",
    "seed": "--seed",
    "planner": "--planner",
}


class StartOptions(Settings):
    """The options of `autoresearch start`. `set` maps TrainConfig paths to fixed values."""

    topic: str
    playbook: str | None = None
    profile: Profile = "quick"
    budget_seconds: float | None = None
    seed: int = 0
    model: str = "tiny"
    task: str | None = None
    set: Mapping[str, JsonValue] = Field(default_factory=dict)
    ray_address: str | None = None
    planner: str = "offline"


def start_command(options: StartOptions) -> str:
    """`autoresearch start …` with every option that is not at its default, but for the budget."""
    words = ["autoresearch", "start", options.topic]
    for name, flag in _FLAGS.items():
        value = getattr(options, name)
        if value != StartOptions.model_fields[name].default:
            words += [flag, str(value)]
    for path, value in options.set.items():
        words += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def parse_budget(text: str) -> float:
    """Seconds in `90s`, `45m`, `2h`, `1d` or a run of these (`1h30m`). Raises Refusal."""
    compact = text.strip().lower().replace(" ", "")
    spans = _SPAN.findall(compact)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in spans)
    if not spans or "".join(n + u for n, u in spans) != compact or seconds <= 0:
        raise Refusal(
            "budget", f"{text!r} is no length of time", "write it as 90s, 45m, 2h, 1h30m or 3d"
        )
    return seconds


def parse_seed(text: str) -> int:
    """A seed: a whole number from 0 to 2^31 - 1. Raises Refusal."""
    if not re.fullmatch(r"\d{1,10}", text.strip()) or int(text) > LARGEST_SEED:
        raise Refusal("seed", f"{text!r} is no seed", "give a whole number from 0 to 2147483647")
    return int(text)


def parse_set(pairs: Sequence[str]) -> dict[str, JsonValue]:
    """`["optim.lr=3e-4"]` as paths and YAML scalars. Raises Refusal for anything else."""
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not _PATH.fullmatch(path):
            raise Refusal("set", f"{pair!r} is no assignment", "write --set path=value")
        if path in values:
            raise Refusal("set", f"{path} is given twice", "keep one of the two")
        values[path] = _scalar(pair, text)
    return values


def _scalar(pair: str, text: str) -> JsonValue:
    try:
        value: Any = YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        value = text.strip()
    if isinstance(value, str | int | float | bool | None):
        return value
    raise Refusal("set", f"{pair!r} sets no single value", "write --set path=value")
