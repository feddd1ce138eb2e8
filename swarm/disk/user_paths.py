"""Paths in a user's home, where there is one: a service's user may have none."""

from contextlib import suppress
from pathlib import Path


def home_folder() -> Path | None:
    """The user's home, or None where neither HOME nor the system names one."""
    with suppress(RuntimeError):
        return Path.home()
    return None


def expanded(path: str | Path) -> Path:
    """The path with `~` and `~user` replaced; as it is where there is no such home."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)
