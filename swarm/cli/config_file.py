"""A TrainConfig from a YAML file and `path=value` settings, with errors that a user can act on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError

from swarm import models, tasks
from swarm.config.assignments import Value, assignments
from swarm.config.base import EVERY
from swarm.config.checked import known_paths
from swarm.config.parts import HELD_OUT_REF, EvalSet
from swarm.config.paths import SOURCES, leaf_of, place, put
from swarm.config.train import TrainConfig, let_go
from swarm.config.yaml_file import read_yaml
from swarm.errors import Refusal, did_you_mean
from swarm.policy.saved_weights import start_digest
from swarm.train.eval_sets import load_sets, load_training, with_digests

#: The settings of a task, and of each of its sources, that may name files.
_FILES = ("ref", "reward")
_TASK_PATHS = tuple(f"task.{name}" for name in _FILES)


def read_file(path: Path, pairs: Sequence[str], *, supervised: bool = False) -> TrainConfig:
    """The config of a YAML file with `path=value` pairs set on top, checked as far as it can be
    without loading a model. The digest of the user's own task is filled in; how its rows are read
    is noted on stderr.

    The paths of a task and of `policy.start` are relative to the file, in a pair to the working
    folder. `supervised` puts the
    `sft` preset in the place of any algorithm that takes rollouts. Raises Refusal.
    """
    raw = _read_yaml(path)
    _make_absolute(raw, path.parent)
    given = assignments(pairs)
    let_go(raw, given)
    for setting, value in given.items():
        _set(raw, setting, value)
    if supervised and _validated({k: raw[k] for k in raw if k == "algorithm"}).algorithm.samples:
        raw["algorithm"] = {"name": "sft"}
    config = _validated(raw)
    models.check(config.model.ref)
    return _with_digests(config)


def _read_yaml(path: Path) -> dict[str, Any]:
    raw = read_yaml(path, "config")
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Refusal("config", f"{path} holds no settings", "write them as `steps: 60`")
    return raw


def _set(raw: dict[str, Any], path: str, value: Value) -> None:
    if path in _TASK_PATHS or (path.startswith(SOURCES) and leaf_of(path) in _FILES):
        value = tasks.absolute(str(value), Path.cwd())
    if path == "policy.start":
        value = _absolute(str(value), Path.cwd())
    try:
        put(raw, path, value)
    except KeyError:
        raise Refusal("set", f"{path} lies below a single value", "check the path") from None


def _make_absolute(raw: Mapping[str, Any], folder: Path) -> None:
    task = raw.get("task")
    if isinstance(task, dict):
        sources = task.get("sources")
        for source in (task, *(sources.values() if isinstance(sources, dict) else ())):
            _absolute_files(source, folder)
    evaluation = raw.get("evaluation")
    sets = evaluation.get("sets") if isinstance(evaluation, dict) else None
    for each in sets if isinstance(sets, list) else ():
        if isinstance(each, dict) and each.get("ref") != HELD_OUT_REF:
            _absolute_files(each, folder)
    policy = raw.get("policy")
    if isinstance(policy, dict) and isinstance(policy.get("start"), str):
        policy["start"] = _absolute(policy["start"], folder)


def _absolute_files(source: Any, folder: Path) -> None:
    """The files of a task, or of what names some as a task does, made absolute in place."""
    if isinstance(source, dict):
        for name in _FILES:
            if isinstance(source.get(name), str):
                source[name] = tasks.absolute(source[name], folder)


def _absolute(path: str, folder: Path) -> str:
    """A path made absolute from `folder`; none stays none, and no path holds a null."""
    return str((folder / Path(path).expanduser()).resolve()) if path and "\0" not in path else path


def _validated(raw: Mapping[str, Any]) -> TrainConfig:
    try:
        return TrainConfig.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    where = place(first["loc"])
    if first["type"] == "extra_forbidden":
        raise Refusal(where, "there is no such setting", _meant(first["loc"])) from None
    message = first["msg"].removeprefix("Value error, ")
    named, _, problem = message.partition(" ")
    if named in known_paths():  # what cannot be combined names its first field itself
        where, message = named, problem
    raise Refusal(where or "config", message, "give another value") from None


def _meant(loc: Sequence[int | str]) -> str:
    """The nearest name among those that exist beside a wrong one."""
    known: Any = TrainConfig().model_dump(mode="json", context=EVERY)
    if loc[:2] == ("evaluation", "sets"):
        known, loc = dict.fromkeys(EvalSet.model_fields), loc[-1:]
    for part in loc[:-1]:
        known = known.get(part, {}) if isinstance(known, dict) else {}
    return did_you_mean(str(loc[-1]), known)


def _with_digests(config: TrainConfig) -> TrainConfig:
    """The config with the digests of its task, loaded once, and of the weights it starts from."""
    task = load_training(config)
    sets = load_sets(config, task)
    of_sets = (note for each in sets if each.task is not task for note in each.notes)
    for note in (*task.notes, *of_sets):
        typer.echo(f"note: {note}", err=True)
    start = start_digest(config.policy)
    return with_digests(config, sets).with_values(
        {"task.digest": task.digest, "policy.start_digest": start}
    )
