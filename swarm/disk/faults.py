"""What is said of an error that is nobody's input: of the machine's memory and disks, or a defect,
which is kept in a file for whoever mends it."""

import os
import platform
import sqlite3
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from swarm.errors import OF_THE_DISK, said

#: What an import error of is a defect.
OWN = ("swarm", "autoresearch")

#: Which field, what is wrong with it, what to do next.
Parts = dict[str, str | None]


def of_machine(error: BaseException) -> Parts | None:
    """What a lack of memory or a full, failing or closed disk says; None for any other error."""
    text = said(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's own
        step = "take a smaller model, batch.rollouts or sampling.max_tokens, or another machine"
        return {"field": "memory", "problem": text or "there is not enough", "next_step": step}
    next_step = "make room or rights there, then try again"
    if isinstance(error, OSError) and error.errno in OF_THE_DISK:
        where = str(error.filename or "disk")
        return {"field": where, "problem": os.strerror(error.errno), "next_step": next_step}
    if not isinstance(error, sqlite3.OperationalError):
        return None
    full = ("database or disk is full", "disk I/O error", "readonly database")
    if "locked" in text:
        next_step = "wait for the process that writes to it, then try again"
    elif not any(says in text for says in full):
        return None
    return {"field": "database", "problem": text, "next_step": next_step}


def of_installation(error: BaseException) -> Parts | None:
    """What an installed library says that is absent or cannot be loaded; None for other errors."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    unloadable = isinstance(cause, OSError) and "shared object file" in str(cause)
    if not (isinstance(cause, ImportError) or unloadable):
        return None
    files = [Path(frame.filename).parts for frame in traceback.extract_tb(cause.__traceback__)]
    inside = [parts for parts in files if not parts[0].startswith("<frozen")]
    library = next((_library(parts) for parts in reversed(inside) if "site-packages" in parts), "")
    if not library and isinstance(cause, ModuleNotFoundError) and cause.name:
        library = cause.name.partition(".")[0]
    if not library or library in OWN:
        return None
    problem = f"the installed library cannot be loaded ({said(cause)})"
    return {"field": library, "problem": problem, "next_step": f"install {library} anew"}


def _library(parts: tuple[str, ...]) -> str:
    return parts[parts.index("site-packages") + 1].removesuffix(".py")


def of_defect(error: BaseException, command: str) -> Parts:
    """What is said of a defect of `command`: where its traceback lies, or on stderr where nothing
    can be written."""
    problem = f"{type(error).__name__}: {said(error)}".rstrip(": ")
    step = "report it as an issue of the project, with"
    try:
        step = f"{step} {_kept(error, command)}"
    except OSError:
        traceback.print_exception(error)
        step = f"{step} the traceback above"
    return {"field": "bug", "problem": problem, "next_step": step}


def one_line(parts: Parts) -> str:
    """All parts as a line."""
    return f"{parts['field']}: {parts['problem']}; {parts['next_step']}"


def _kept(error: BaseException, command: str) -> Path:
    """A new file below the system's folder for temporary files, with the report of an error."""
    number, name = tempfile.mkstemp(prefix=f"{command}-bug-", suffix=".log")
    with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
        file.write(_report(error))
    return Path(name)


def _report(error: BaseException) -> str:
    """When, what was run, where, on which versions, and the traceback."""
    versions = ", ".join(f"{name} {_version(name)}" for name in ("torch", "transformers", "ray"))
    lines = (
        datetime.now(UTC).isoformat(timespec="seconds"),
        f"command: {' '.join(sys.argv)}",
        f"folder: {_folder()}",
        f"python {platform.python_version()} on {platform.platform()}; {versions}",
        "",
    )
    return "\n".join(lines) + "".join(traceback.format_exception(error))


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "gone"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"
