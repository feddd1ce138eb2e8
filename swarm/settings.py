"""The base of every part of a config."""

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())
