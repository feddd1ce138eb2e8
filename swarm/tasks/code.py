"""The user's Python file: run it, call its function, and check what that made."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swarm.config.base import JsonValue, canonical_digest
from swarm.config.parts import TIME_LIMIT
from swarm.errors import BadTask, blamed
from swarm.tasks.calling import Overdue, users_code, users_module
from swarm.tasks.judges import OwnJudge
from swarm.tasks.neighbours import PUT_IT_IN, by_design
from swarm.tasks.own_rows import Rows, from_file, from_values
from swarm.tasks.refs import OwnRef


def made(
    ref: OwnRef, args: Mapping[str, JsonValue], limit: float = TIME_LIMIT
) -> tuple[Rows, OwnJudge]:
    """What `make(**args)` of the file makes: rows, and the judge of its functions.

    The digest is of the file and of the rows. Modules beside the file are not on the import path,
    so that no code which the digest leaves out can change. Each call of the user's code may take
    `limit` seconds. Raises BadTask.
    """
    if not ref.path.is_file():
        raise BadTask(f"there is no file {ref.path}", "give the path as file.py:make")
    source = ref.path.read_bytes()
    code_digest = hashlib.sha256(source).hexdigest()
    with _blamed_on(OwnRef(ref.path, None), limit):
        module = users_module(ref.path, source, f"own_task_{code_digest[:16]}")
    make = getattr(module, ref.function or "", None)
    if not callable(make):
        raise BadTask(f"{ref.path.name} has no function {ref.function!r}", "name one after the ':'")
    with _blamed_on(ref, limit):
        thing = make(**args)
        reward, correct = getattr(thing, "reward", None), getattr(thing, "correct", None)
        brought = getattr(thing, "rows", None)
    if not callable(reward) or not (correct is None or callable(correct)):
        raise BadTask(
            f"{ref.function} made a {type(thing).__name__} without a function `reward`",
            "return an object with `rows`, `reward` and, if the true metric differs, `correct`",
        )
    rows = _rows(ref, brought, limit)
    digest = canonical_digest([code_digest, rows.digest])
    return Rows(rows.rows, digest), OwnJudge(reward, correct, str(ref.path), limit)


def _rows(ref: OwnRef, rows: Any, limit: float) -> Rows:
    if isinstance(rows, str | Path):
        return from_file(ref.path.parent / rows)
    if not isinstance(rows, Iterable):
        raise BadTask(
            f"{ref.function} made something without `rows`", "give a list of dicts or a JSONL path"
        )
    with _blamed_on(ref, limit):
        values = list(rows)  # a generator runs only now
    return from_values(values)


@contextmanager
def _blamed_on(ref: OwnRef, limit: float) -> Iterator[None]:
    """Run code of the user's file. Raises BadTask for what it raises, and where it hangs."""
    what = ref.function or ref.path.name
    try:
        with users_code(f"{what} in {ref.path}", limit):
            yield
    except Overdue as late:
        raise BadTask(f"{what} {late}", "make it faster, or raise task.time_limit") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it raises, it is the file's
        problem = f"{what} raised {blamed(error, ref.path)}"
        if why := by_design(error, ref.path):
            raise BadTask(f"{problem}: {why}", PUT_IT_IN) from error
        raise BadTask(problem, f"correct {ref.path}") from error
