"""The import path of processes that a test starts: the tree under test comes first, whatever is
installed."""

import os
from pathlib import Path

import swarm

_HERE = Path(__file__).parent
_TREE = Path(swarm.__file__).parents[1]


def child_path(*folders: Path) -> str:
    """A PYTHONPATH of the tree under test, `tests/support` and `folders`."""
    return os.pathsep.join(map(str, (_TREE, _HERE, *folders)))
