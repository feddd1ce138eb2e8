"""`--set path=value`, for both command lines."""

import re
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from swarm.config.base import JsonValue
from swarm.errors import Refusal

_PATH = re.compile(r"[a-z_]+(?:\.[a-z0-9_]+)*")


def assignments(pairs: Sequence[str]) -> dict[str, JsonValue]:
    """`["optim.lr=3e-4"]` as dotted paths and YAML scalars. Raises Refusal for anything else."""
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not _PATH.fullmatch(path):
            raise Refusal("set", f"{pair!r} is not an assignment", "write --set path=value")
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
