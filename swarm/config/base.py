"""The base of every part of a config, and the form in which one is hashed."""

import hashlib
import json

from pydantic import BaseModel, ConfigDict

JsonValue = str | int | float | bool | None


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


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
