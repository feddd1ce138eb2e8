"""`--set path=value`, for both command lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML

from swarm.config.base import JsonValue
from swarm.config.yaml_file import BROKEN
from swarm.errors import Refusal

_PATH = re.compile(r"[a-z_]+(?:\.[a-z0-9_]+)*")


Value = JsonValue | dict[str, JsonValue]


def assignments(pairs: Sequence[str]) -> dict[str, Value]:
    """`["optim.lr=3e-4"]` as dotted paths and YAML values: scalars, or mappings of scalars such as
    `task.args={min: 3}`. Raises Refusal for anything else."""
    values: dict[str, Value] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not _PATH.fullmatch(path):
            raise Refusal("set", f"{pair!r} is not an assignment", "write --set path=value")
        if path in values:
            raise Refusal("set", f"{path} is given twice", "keep one of the two")
        values[path] = _value(pair, text)
    return values


def single_values(values: Mapping[str, Value]) -> dict[str, JsonValue]:
    """The same where each value is a scalar. Raises Refusal for a mapping."""
    single: dict[str, JsonValue] = {}
    for path, value in values.items():
        if isinstance(value, dict):
            raise Refusal("set", f"{path} sets no single value", f"write --set {path}.name=value")
        single[path] = value
    return single


def _value(pair: str, text: str) -> Value:
    try:
        value: Any = YAML(typ="safe", pure=True).load(text)
    except BROKEN:
        value = text.strip()
    if isinstance(value, dict) and all(_is_scalar(inner) for inner in value.values()):
        return {str(name): inner for name, inner in value.items()}
    if not _is_scalar(value):
        raise Refusal("set", f"{pair!r} sets no single value", "write --set path=value")
    scalar: JsonValue = value
    return scalar


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | bool | None)
