"""The base of every part of a config, and the form in which one is hashed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)

JsonValue = str | int | float | bool | None

#: The context of a dump that is hashed: `model_dump(mode="json", context=HASHED)`.
HASHED: Mapping[str, bool] = {"hashed": True}


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error, and every number finite."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )

    def implied(self) -> Mapping[str, JsonValue]:
        """Fields that are younger than stored configs, each with what a config without it means.
        What is hashed leaves such a field out while it holds that, so that registered plans,
        trials and runs keep their digests."""
        return {}

    @model_serializer(mode="wrap")
    def _leave_out_what_is_implied(
        self, dump: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        found: dict[str, Any] = dump(self)
        if info.context == HASHED:
            for name, meant in self.implied().items():
                if getattr(self, name) == meant:
                    found.pop(name, None)
        return found


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
