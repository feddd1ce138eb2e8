"""The import path of processes that a test starts: the tree under test comes first, whatever is
installed."""

import os
from pathlib import Path

import swarm

_TESTS = Path(__file__).parents[1]
_TREE = Path(swarm.__file__).parents[1]


def child_path() -> str:
    """A PYTHONPATH of the tree under test and of `support`."""
    return os.pathsep.join(map(str, (_TREE, _TESTS)))
