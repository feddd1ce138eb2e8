"""Dotted paths (`optim.lr`) in configs and in trees of plain data."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import BaseModel, ValidationError

from swarm.config.base import EVERY, JsonValue
from swarm.config.parts import BOUNDS

#: Free-form: arguments of a task and of a chat template, names of columns. What lies below is not a
#: setting of every run.
FREE = ("task.args.", "task.template.", "task.columns.")

#: The sources of a mixture, by name: `task.sources.math.weight`.
SOURCES = "task.sources."


def get(tree: Mapping[str, Any], path: str) -> Any:
    """The value at a path. Raises KeyError."""
    return reduce(getitem, path.split("."), tree)


def put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path, and the dicts above it. Raises KeyError when a parent is a value."""
    *parents, leaf = path.split(".")
    for name in parents:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise KeyError(path)
    tree[leaf] = value


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a tree of mappings, under its path."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def leaf_of(path: str) -> str:
    """The last name of a path."""
    return path.rpartition(".")[2]


def setting(config: BaseModel, path: str) -> JsonValue:
    """The value at a path of a config. Raises KeyError."""
    value: JsonValue = get(config.model_dump(mode="json", context=EVERY), path)
    return value


def flat(config: BaseModel) -> dict[str, JsonValue]:
    """Every setting of a config by its path, in the config's order, without what is free-form."""
    found = leaves(config.model_dump(mode="json", context=EVERY))
    return {path: value for path, value in found if not path.startswith(FREE)}


def differences(base: BaseModel, other: BaseModel) -> dict[str, JsonValue]:
    """The settings that hold another value in `other`, with that value."""
    before = flat(base)
    return {path: value for path, value in flat(other).items() if before.get(path) != value}


def first_difference(one: BaseModel, other: BaseModel) -> str | None:
    """The first path by name, a task's arguments included, at which two configs differ; or None.
    What only bounds waits makes no difference."""
    a, b = (dict(leaves(config.model_dump(mode="json"))) for config in (one, other))
    paths = sorted((a | b).keys() - set(BOUNDS))
    return next((path for path in paths if a.get(path) != b.get(path)), None)


def place(loc: Sequence[int | str]) -> str:
    """The path of pydantic's `loc`."""
    return ".".join(map(str, loc))


#: What pydantic appends to the place of a value that may be of several kinds.
_KINDS = (("str",), ("int",), ("float",), ("bool",))


def first_problem(error: ValidationError) -> str:
    """What is wrong with the first field that pydantic objects to, after its path if it has one."""
    errors = error.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "finite_number"), errors[0])
    tagged = first["loc"][-1:] in _KINDS  # which of the kinds of a value objects
    where = place(first["loc"][:-1] if tagged else first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message
