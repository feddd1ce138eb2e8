"""TrainConfig by dotted paths, with errors that a user can act on."""

from collections.abc import Iterator, Mapping
from functools import cache

from pydantic import BaseModel, ValidationError

from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean

#: Free-form: a task's own arguments.
_TASK_ARGS = "task.args"


@cache
def known_paths() -> tuple[str, ...]:
    """Every path of TrainConfig that holds a value, in the order of the config."""
    return tuple(_leaves(TrainConfig, ""))


def check_path(path: str, field: str) -> None:
    """Raise Refusal for a path that TrainConfig does not have."""
    if path not in known_paths() and not path.startswith(f"{_TASK_ARGS}."):
        leaf = path.rsplit(".", 1)[-1]
        near = [known for known in known_paths() if known.rsplit(".", 1)[-1] == leaf]
        step = f"did you mean {near[0]}?" if near else did_you_mean(path, known_paths())
        raise Refusal(field, f"{path} is not a setting of a training run", step)


def check_value(path: str, value: JsonValue, field: str) -> None:
    """Raise Refusal for an unknown path, and for a value that it can hold in no config."""
    check_path(path, field)
    try:
        TrainConfig().with_values({path: value})
    except ValidationError as error:
        own = [e for e in error.errors(include_url=False) if ".".join(map(str, e["loc"])) == path]
        if own:
            raise Refusal(field, f"{path}: {own[0]['msg']}", "give another value") from None


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
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise Refusal(field, f"{where}: {message}" if where else message, next_step) from None


def setting(config: TrainConfig, path: str) -> JsonValue:
    """The value at a dotted path of a config. Raises KeyError."""
    node = config.model_dump(mode="json")
    *parents, leaf = path.split(".")
    for name in parents:
        node = node[name]
    value: JsonValue = node[leaf]
    return value


def differences(base: TrainConfig, other: TrainConfig) -> dict[str, JsonValue]:
    """The paths that hold another value in `other`, with that value."""
    before, after = flat(base), flat(other)
    return {path: value for path, value in after.items() if before[path] != value}


def flat(config: TrainConfig) -> dict[str, JsonValue]:
    """Every path that holds a value, with that value."""
    values: dict[str, JsonValue] = {}
    for path in known_paths():
        node: object = config
        for name in path.split("."):
            node = getattr(node, name)
        values[path] = node if isinstance(node, str | int | float | bool) else None
    return values


def _leaves(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _leaves(kind, f"{prefix}{name}.")
        elif prefix + name != _TASK_ARGS:
            yield prefix + name
