"""The base of every part of a config, and the form in which one is hashed."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

JsonValue = str | int | float | bool | None


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


def strict(value: Any) -> Any:
    """A value as JSON can hold it: null for NaN and the infinities, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: strict(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [strict(part) for part in value]
    return value


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: the form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_digest(value: object) -> str:
    """sha256 of `canonical_json(value)`, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def refuse(*objections: str) -> None:
    """Raise ValueError with every objection there is; each names a field by its path in the config
    and says what would be possible."""
    if objections:
        raise ValueError("; ".join(objections))
