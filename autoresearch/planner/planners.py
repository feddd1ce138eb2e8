"""Which planner `--planner` names: the offline one, or the user's own."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autoresearch.planner.offline import intent_of
from autoresearch.planner.seam import Planner, Question
from autoresearch.study.intent import Intent
from swarm.config.parts import TIME_LIMIT
from swarm.errors import Refusal, blamed, did_you_mean
from swarm.tasks.calling import Overdue, users_code

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
    spec = importlib.util.spec_from_file_location(f"own_planner_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Refusal(
            "planner", f"{path} is not a Python file", "give the path as file.py:function"
        )
    module = importlib.util.module_from_spec(spec)
    _run(path, partial(spec.loader.exec_module, module))
    planner: Planner | None = getattr(module, function, None)
    if not callable(planner):
        raise Refusal("planner", f"{path} has no function {function!r}", "name one after the ':'")
    return partial(_asked, path, planner)


def _asked(path: Path, planner: Planner, question: Question) -> Intent:
    intent = _run(path, partial(planner, question))
    if not isinstance(intent, Intent):
        made = type(intent).__name__
        raise Refusal("planner", f"{path} made a {made} of the question", "return an Intent")
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
