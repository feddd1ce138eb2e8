"""YAML files of the user's, and what is wrong with one in a line."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from swarm.errors import Refusal

#: What ruamel.yaml raises for text that is not YAML, or not UTF-8: its own errors, and those of the
#: conversions that it leaves to Python (`2024-13-45`, `!!int x`, a thousand brackets).
BROKEN = (YAMLError, ValueError, LookupError, OverflowError, RecursionError)


def read_yaml(path: Path, field: str) -> Any:
    """The plain values of a file; None for an empty one. Raises Refusal naming the field."""
    try:
        return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(field, f"{path}: {error.strerror}", "give a YAML file") from None
    except BROKEN as error:
        line = " ".join(str(error).split())
        raise Refusal(field, f"{path} is not YAML ({line})", "correct it") from None
