"""The interface of planners: each makes an `Intent` of a question; the rest is the same for all."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoresearch.playbook import Library
from autoresearch.study.intent import Intent
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal, did_you_mean

BUILT_IN = ("offline",)


@dataclass(frozen=True)
class Question:
    """What a planner is asked: the topic and options of `start`, the playbooks that there are, and
    what earlier studies of this home found."""

    options: StartOptions
    library: Library
    findings: Sequence[Mapping[str, Any]] = ()


Planner = Callable[[Question], Intent]


def planner_named(name: str) -> Planner:
    """The planner of `--planner`: `offline`, or the user's own as `file.py:function`.

    Raises Refusal for one that is not there. Runs the file.
    """
    if name == "offline":
        from autoresearch.planner.offline import intent_of

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
    spec.loader.exec_module(module)
    planner: Planner | None = getattr(module, function, None)
    if not callable(planner):
        raise Refusal("planner", f"{path} has no function {function!r}", "name one after the ':'")
    return planner
