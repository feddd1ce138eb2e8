"""The options of `start`, and the command line that they amount to."""

import json
import re
import shlex
from collections.abc import Mapping

from pydantic import Field

from autoresearch.study.plan import Profile
from swarm.config.base import JsonValue, Settings
from swarm.config.parts import EvalSet
from swarm.errors import Refusal

#: Options of `start` that are written as `--NAME VALUE`.
_FLAGS = ("playbook", "profile", "model", "task", "seed", "planner")


class StartOptions(Settings):
    """The options of `autoresearch start`; None where one is not given, which leaves it to the
    planner. `set` maps TrainConfig paths to fixed values."""

    topic: str
    playbook: str | None = None
    profile: Profile | None = None
    budget_seconds: float | None = None
    seed: int | None = None
    model: str | None = None
    task: str | None = None
    reward: str | None = None
    evaluation: tuple[EvalSet, ...] | None = None
    factors: Mapping[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    set: Mapping[str, JsonValue] = Field(default_factory=dict)
    ray_address: str | None = None
    planner: str = "offline"
    plan: str | None = None  # a file that holds the whole plan


def start_command(options: StartOptions) -> str:
    """`autoresearch start …` with every option that is given, but for the budget."""
    if options.plan is not None:
        return shlex.join(["autoresearch", "start", "--plan", options.plan])
    words = ["autoresearch", "start", options.topic]
    for name in _FLAGS:
        value = getattr(options, name)
        if value != StartOptions.model_fields[name].default:
            words += [f"--{name}", str(value)]
    for path, value in options.set.items():
        words += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def parse_seed(text: str) -> int:
    """A seed: a whole number from 0 to 2^31 - 1. Raises Refusal."""
    if not re.fullmatch(r"\d{1,10}", text.strip()) or int(text) >= 2**31:
        raise Refusal("seed", f"{text!r} is not a seed", "give a whole number from 0 to 2147483647")
    return int(text)
