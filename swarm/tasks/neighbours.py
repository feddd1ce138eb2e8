"""Why a module that lies beside the user's file cannot be imported."""

from pathlib import Path

#: What to do instead.
PUT_IT_IN = "put its code into the file, or install it as a package (pip install -e)"


def by_design(error: BaseException, path: Path) -> str | None:
    """Of an ImportError that a module beside the file at `path` would prevent: why it must not.
    None for any other error."""
    if not isinstance(error, ImportError):
        return None
    name = (error.name or "").partition(".")[0]
    beside = (path.parent / f"{name}.py", path.parent / name)
    relative = "relative import" in str(error)
    if not relative and not (name and any(place.exists() for place in beside)):
        return None
    which = "such modules" if relative else f"{name} lies beside {path.name}; such modules"
    return f"{which} are not imported by design: the task's digest would not cover them"
