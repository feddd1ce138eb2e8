"""The user's Python file: run it, call its function, and check what that made."""

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swarm.config.base import JsonValue, canonical_digest
from swarm.config.parts import TIME_LIMIT
from swarm.errors import BadTask, blamed, closest
from swarm.tasks.asking import Function
from swarm.tasks.calling import Overdue, users_code, users_module
from swarm.tasks.judges import Judge, OwnJudge, VerlJudge, ground_truth
from swarm.tasks.neighbours import PUT_IT_IN, by_design
from swarm.tasks.own_rows import Row, Rows, from_file, from_values
from swarm.tasks.refs import OwnRef
from swarm.tasks.signatures import OF_VERL, check_columns, check_reserved, signature_of

#: What the function in a file does, by the setting that names it.
_KIND = MappingProxyType({"task": "make", "task.reward": "function"})


def made(
    ref: OwnRef, args: Mapping[str, JsonValue], limit: float = TIME_LIMIT
) -> tuple[Rows, OwnJudge]:
    """What `make(**args)` of the file makes: rows, and the judge of its functions.

    The digest is of the file and of the rows. Modules beside the file are not on the import path,
    so that no code which the digest leaves out can change. Each call of the user's code may take
    `limit` seconds. Raises BadTask.
    """
    make, code_digest = function_of(ref, limit)
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
    check_reserved(rows.rows)
    digest = canonical_digest([code_digest, rows.digest])
    return Rows(rows.rows, digest, rows.layout), OwnJudge(reward, correct, str(ref.path), limit)


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


def function_of(ref: OwnRef, limit: float, field: str = "task") -> tuple[Function, str]:
    """The function that a ref names in its file, which is run, and the file's sha256. Raises
    BadTask, of `field`."""
    if not ref.path.is_file():
        raise BadTask(
            f"there is no file {ref.path}", f"give the path as file.py:{_KIND[field]}", field
        )
    source = ref.path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    with _blamed_on(OwnRef(ref.path), limit, field):
        module = users_module(ref.path, source, f"own_task_{digest[:16]}")
    function = getattr(module, ref.function or "", None)
    if not callable(function):
        known = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        problem = f"{ref.path.name} has no function {ref.function!r}"
        near = closest(ref.function or "", known)
        step = f"did you mean {near[0]}?" if near else "name one after the ':'"
        raise BadTask(problem, step, field)
    return function, digest


def reward_judge(ref: OwnRef, rows: Sequence[Row], limit: float, source: str) -> tuple[Judge, str]:
    """The judge of a reward function beside rows, in TRL's signature or in verl's, and the sha256
    of its file. `source` is what verl's `data_source` is where rows have none. Raises BadTask for a
    function in neither, and for one that takes what the rows do not have."""
    function, digest = function_of(ref, limit, "task.reward")
    name = f"{ref.function} in {ref.path.name}"
    signature = signature_of(function)
    if signature is None or signature.kind is None:
        takes = ", ".join(signature.takes) if signature else "no names"
        raise BadTask(
            f"{name} takes {takes or 'nothing'}: no reward function",
            "write it as TRL's f(prompts, completions, **columns) or verl's "
            "f(data_source, solution_str, ground_truth, extra_info)",
            "task.reward",
        )
    if signature.kind == "trl":
        check_reserved(rows, "task.reward")
        check_columns(name, signature, rows)
        return OwnJudge(function, None, str(ref.path), limit, extras=True), digest
    if other := [n for n in signature.needs if n not in OF_VERL]:
        raise BadTask(
            f"{name} takes {other[0]!r}, which verl does not pass",
            "give it a default",
            "task.reward",
        )
    if lacking := next((row for row in rows if ground_truth(row) is None), None):
        raise BadTask(
            f"{name} takes 'ground_truth', and row {lacking.number} has neither "
            "`reward_model.ground_truth` nor an answer",
            "give it one, or name its column: task.columns.answer",
            "task.reward",
        )
    return VerlJudge(function, str(ref.path), limit, source), digest


@contextmanager
def _blamed_on(ref: OwnRef, limit: float, field: str = "task") -> Iterator[None]:
    """Run code of the user's file. Raises BadTask for what it raises, and where it hangs."""
    what = ref.function or ref.path.name
    try:
        with users_code(f"{what} in {ref.path}", limit):
            yield
    except Overdue as late:
        raise BadTask(f"{what} {late}", "make it faster, or raise task.time_limit", field) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it raises, it is the file's
        problem = f"{what} raised {blamed(error, ref.path)}"
        if why := by_design(error, ref.path):
            raise BadTask(f"{problem}: {why}", PUT_IT_IN, field) from error
        raise BadTask(problem, f"correct {ref.path}", field) from error
