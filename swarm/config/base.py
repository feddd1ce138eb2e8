"""The base of every part of a config, and the form in which one is hashed."""

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.config import JsonDict

JsonValue = str | int | float | bool | None

#: The context of a dump that holds every setting, those of `added` too.
EVERY: Mapping[str, bool] = MappingProxyType({"every": True})

#: The context in which a dump is read back; see `Settings.read_back`.
STORED: Mapping[str, bool] = MappingProxyType({"stored": True})

_ADDED: JsonDict = {"added": True}


def added(default: Any, **field: Any) -> Any:
    """A setting that came after configs were hashed into registrations. While it holds its default
    it is left out of dumps, so that what was registered without it keeps its digest."""
    return Field(default=default, json_schema_extra=_ADDED, **field)


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error, and every number finite."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )

    @classmethod
    def read_back(cls, stored: str | Mapping[str, Any]) -> Self:
        """What the program wrote itself, now or in an older version, as JSON or as its tree: the
        inverse of a dump. Settings that it lacks are those `implied`, whatever they would be in
        what a user writes, which is read by `model_validate`. Raises ValidationError."""
        if isinstance(stored, str):
            return cls.model_validate_json(stored, context=STORED)
        return cls.model_validate(stored, context=STORED)

    def implied(self) -> Mapping[str, Any]:
        """The settings that stored configs may lack, each with what a config without it means."""
        return {
            name: setting.default
            for name, setting in type(self).model_fields.items()
            if setting.json_schema_extra == _ADDED
        }

    @model_serializer(mode="wrap")
    def _without_what_is_implied(
        self, dumped: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        found: dict[str, Any] = dumped(self)
        if info.context == EVERY:
            return found
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
