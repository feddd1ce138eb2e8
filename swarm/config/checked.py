"""Settings of a TrainConfig by dotted path, with errors that a user can act on."""

from collections.abc import Mapping
from functools import cache

from pydantic import ValidationError

from swarm.config.base import JsonValue
from swarm.config.parts import Source
from swarm.config.paths import FREE, SOURCES, first_problem, flat, leaf_of, place
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, closest, did_you_mean


@cache
def known_paths() -> tuple[str, ...]:
    """Every path of TrainConfig that holds a value, in the order of the config."""
    return tuple(flat(TrainConfig()))


def check_path(path: str, field: str) -> None:
    """Raise Refusal for a path that TrainConfig does not have."""
    if path.startswith(SOURCES):
        _check_source(path, field)
        return
    if path not in known_paths() and not path.startswith(FREE):
        near = [known for known in known_paths() if leaf_of(known) == leaf_of(path)]
        step = f"did you mean {near[0]}?" if near else did_you_mean(path, known_paths())
        raise Refusal(field, f"{path} is not a setting of a training run", step)


def _check_source(path: str, field: str) -> None:
    """A source's setting, of whatever name the source has."""
    name, _, setting = path.removeprefix(SOURCES).partition(".")
    known = list(Source.model_fields)
    below = setting.startswith(("args.", "columns."))
    if setting not in known and not below:
        near = closest(setting, known)
        whole = f"{SOURCES}{name}.{near[0]}" if near else ""
        step = f"did you mean {whole}?" if near else f"write {SOURCES}NAME.weight"
        raise Refusal(field, f"{path} is not a setting of a source", step)


def check_value(path: str, value: JsonValue, field: str) -> None:
    """Raise Refusal for an unknown path, and for a value that it can hold in no config."""
    check_path(path, field)
    try:
        TrainConfig().with_values({path: value})
    except ValidationError as error:
        for each in error.errors(include_url=False):
            said = each["msg"].removeprefix("Value error, ")
            if place(each["loc"]) == path:
                raise Refusal(field, f"{path}: {said}", "give another value") from None
            if not each["loc"] and said.startswith(f"{path} {value} "):  # of the value alone
                raise Refusal(field, said, "give another value") from None


def configure(
    base: TrainConfig,
    values: Mapping[str, JsonValue],
    field: str,
    next_step: str = "give another value",
) -> TrainConfig:
    """`base` with paths set. Raises Refusal for an unknown path or a value that does not fit."""
    for path in values:
        check_path(path, field)
    try:
        return base.with_values(values)
    except ValidationError as error:
        raise Refusal(field, first_problem(error), next_step) from None
