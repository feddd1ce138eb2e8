"""What JSON can hold. No pydantic: every command line imports it."""

import math
from collections.abc import Mapping
from typing import Any


def strict(value: Any) -> Any:
    """A value as JSON can hold it: null for NaN and the infinities, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: strict(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [strict(part) for part in value]
    return value
