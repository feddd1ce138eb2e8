"""Which planner `--planner` names: the offline one, or the user's own."""

import importlib.util
from pathlib import Path

from autoresearch.planner.offline import intent_of
from autoresearch.planner.seam import Planner
from swarm.errors import Refusal, did_you_mean

BUILT_IN = ("offline",)


def planner_named(name: str) -> Planner:
    """The planner of `--planner`: `offline`, or the user's own as `file.py:function`.

    Raises Refusal for one that is not there. Runs the file.
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
    spec.loader.exec_module(module)
    planner: Planner | None = getattr(module, function, None)
    if not callable(planner):
        raise Refusal("planner", f"{path} has no function {function!r}", "name one after the ':'")
    return planner
