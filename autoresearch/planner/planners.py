"""Which planner `--planner` names: the offline one, or the user's own."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from autoresearch.planner.offline import intent_of
from autoresearch.planner.seam import Planner, Question
from autoresearch.study.intent import Intent
from swarm.config.parts import TIME_LIMIT
from swarm.config.paths import first_problem
from swarm.errors import Refusal, blamed, did_you_mean
from swarm.tasks.calling import Overdue, users_code, users_module

BUILT_IN = ("offline",)


def planner_named(name: str) -> Planner:
    """The planner of `--planner`: `offline`, or the user's own as `file.py:function`.

    Raises Refusal for one that is not there, and so does the planner where the user's function
    raises or makes no Intent. Runs the file.
    """
    if name == "offline":
        return intent_of
    file, colon, function = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise Refusal("planner", f"{name!r} is unknown", did_you_mean(name, BUILT_IN))
    path = Path(file)
    if not path.is_file():
        raise Refusal("planner", f"there is no file {path}", "give the path as file.py:function")
    load = partial(users_module, path, path.read_bytes(), f"own_planner_{path.stem}")
    planner: Planner | None = getattr(_run(path, load), function, None)
    if not callable(planner):
        raise Refusal("planner", f"{path} has no function {function!r}", "name one after the ':'")
    return partial(_asked, path, planner)


def _asked(path: Path, planner: Planner, question: Question) -> Intent:
    made = _run(path, partial(planner, question))
    if not isinstance(made, Intent):
        kind = type(made).__name__
        raise Refusal("planner", f"{path} made a {kind} of the question", "return an Intent")
    try:  # copies and constructed records were never checked
        intent = Intent.model_validate({**vars(made), **made.model_dump(warnings=False)})
    except ValidationError as error:
        raise Refusal("planner", f"{path}: {first_problem(error)}", f"correct {path}") from None
    if intent.repairs or intent.set not in ({}, question.options.set):
        field = "repairs" if intent.repairs else "set"
        owner = "planning's own" if intent.repairs else "the user's: --set"
        raise Refusal("planner", f"{path} filled {field}, which is {owner}", f"leave {field} out")
    return intent


def _run(path: Path, code: Callable[[], Any]) -> Any:
    """What the user's code makes. Raises Refusal for whatever it raises."""
    try:
        with users_code(f"the planner {path}", TIME_LIMIT):
            return code()
    except (Refusal, KeyboardInterrupt):
        raise
    except Overdue as late:
        raise Refusal("planner", f"{path} {late}", "make it faster, or plan offline") from None
    except BaseException as error:  # whatever it raises, it is the file's
        raise Refusal("planner", f"it raised {blamed(error, path)}", f"correct {path}") from error
