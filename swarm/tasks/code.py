"""The user's Python file: run it, call its function, and check what that made."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from swarm.config.base import JsonValue, canonical_digest
from swarm.errors import BadTask, blamed
from swarm.tasks.judges import OwnJudge
from swarm.tasks.own_rows import Rows, from_file, from_values
from swarm.tasks.refs import OwnRef


def made(ref: OwnRef, args: Mapping[str, JsonValue]) -> tuple[Rows, OwnJudge]:
    """What `make(**args)` of the file makes: rows, and the judge of its functions.

    The digest is of the file and of the rows. Modules beside the file are not on the import path,
    so that no code which the digest leaves out can change. Raises BadTask.
    """
    if not ref.path.is_file():
        raise BadTask(f"there is no file {ref.path}", "give the path as file.py:make")
    source = ref.path.read_bytes()
    code_digest = hashlib.sha256(source).hexdigest()
    make = getattr(_module(ref.path, code_digest), ref.function or "", None)
    if not callable(make):
        raise BadTask(f"{ref.path.name} has no function {ref.function!r}", "name one after the ':'")
    try:
        thing = make(**args)
        reward, correct = getattr(thing, "reward", None), getattr(thing, "correct", None)
    except (Exception, SystemExit) as error:
        raise _raised(ref, error) from error
    if not callable(reward) or not (correct is None or callable(correct)):
        raise BadTask(
            f"{ref.function} made a {type(thing).__name__} without a function `reward`",
            "return an object with `rows`, `reward` and, if the true metric differs, `correct`",
        )
    rows = _rows(ref, getattr(thing, "rows", None))
    digest = canonical_digest([code_digest, rows.digest])
    return Rows(rows.rows, digest), OwnJudge(reward, correct, str(ref.path))


def _rows(ref: OwnRef, rows: Any) -> Rows:
    if isinstance(rows, str | Path):
        return from_file(ref.path.parent / rows)
    if not isinstance(rows, Iterable):
        raise BadTask(
            f"{ref.function} made something without `rows`", "give a list of dicts or a JSONL path"
        )
    try:
        values = list(rows)
    except Exception as error:  # a generator runs only now
        raise _raised(ref, error) from error
    return from_values(values)


def _module(path: Path, digest: str) -> ModuleType:
    """The file as a module of its own; dataclasses and pickle look it up in `sys.modules`."""
    name = f"own_task_{digest[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadTask(f"{path} is not a Python file", "give the path as file.py:make")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _raised(OwnRef(path, None), error) from error
    return module


def _raised(ref: OwnRef, error: BaseException) -> BadTask:
    what = ref.function or ref.path.name
    return BadTask(f"{what} raised {blamed(error, ref.path)}", f"correct {ref.path}")
