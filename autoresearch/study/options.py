"""The options of `start`, and the command line that they amount to."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, ValidationError

from autoresearch.study.plan import Profile, repeated
from swarm.config.assignments import assignments, single_values
from swarm.config.base import JsonValue, Settings
from swarm.config.parts import EvalSet
from swarm.config.paths import first_problem
from swarm.errors import Refusal, did_you_mean

#: The settings that `--eval` takes behind a ref.
_OF_SETS = ("name", "k", "prompts", "temperature", "reward", "split")
_ANY = "level"

#: Options of `start` that are written as `--NAME VALUE`.
_FLAGS = ("playbook", "profile", "model", "task", "reward", "seed", "planner")


class StartOptions(Settings):
    """The options of `autoresearch start`; None where one is not given, which leaves it to the
    planner. `set` maps TrainConfig paths to fixed values, `levels` a factor's name or path to the
    levels under test; `evaluation` are sets in place of held-out prompts."""

    topic: str
    playbook: str | None = None
    profile: Profile | None = None
    budget_seconds: float | None = None
    seed: int | None = None
    model: str | None = None
    task: str | None = None
    reward: str | None = None
    evaluation: tuple[EvalSet, ...] | None = None
    levels: Mapping[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
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
    for each in options.evaluation or ():
        words += ["--eval", eval_option(each)]
    for name, levels in options.levels.items():
        words += ["--factor", f"{name}={','.join(map(_written, levels))}"]
    for path, value in options.set.items():
        words += ["--set", f"{path}={_written(value)}"]
    return shlex.join(words)


def parse_levels(pairs: Sequence[str]) -> dict[str, tuple[JsonValue, ...]]:
    """`["task.args.shaped=true,false"]` as names or paths and their levels. Raises Refusal."""
    found: dict[str, tuple[JsonValue, ...]] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise Refusal("factor", f"{pair!r} names no levels", "write --factor PATH=LEVEL,LEVEL")
        if name in found:
            raise Refusal("factor", f"{name} is given twice", "keep one of the two")
        levels = tuple(
            single_values(assignments([f"{_ANY}={each}"]))[_ANY] for each in _split(text)
        )
        if twice := repeated(levels):
            raise Refusal("factor", f"{name}: level {twice[0]} is given twice", "list each once")
        found[name] = levels
    return found


def parse_evaluation(text: str) -> EvalSet:
    """`REF` or `REF,k=8,prompts=200,temperature=0.6` as an evaluation set. Raises Refusal."""
    ref, *settings = _split(text)
    values: dict[str, Any] = {"ref": ref}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name.strip() not in _OF_SETS:
            raise Refusal(
                "eval", f"{setting!r} is no setting of a set", did_you_mean(name, _OF_SETS)
            )
        values[name.strip()] = value.strip()
    try:
        return EvalSet.model_validate(values)
    except ValidationError as error:
        raise Refusal("eval", first_problem(error), "write --eval REF,k=8,prompts=200") from None


def eval_option(each: EvalSet) -> str:
    """What `parse_evaluation` reads as this set."""
    given = each.model_dump(include=set(_OF_SETS), exclude_defaults=True)
    return ",".join([each.ref, *(f"{name}={value}" for name, value in given.items())])


def _split(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise Refusal("options", f"{text!r} has an empty part", "write a value between commas")
    return parts


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def parse_seed(text: str) -> int:
    """A seed: a whole number from 0 to 2^31 - 1. Raises Refusal."""
    if not re.fullmatch(r"\d{1,10}", text.strip()) or int(text) >= 2**31:
        raise Refusal("seed", f"{text!r} is not a seed", "give a whole number from 0 to 2147483647")
    return int(text)
