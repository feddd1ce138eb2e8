"""A playbook file as YAML: its text, its plain values, and the line of every key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError

from autoresearch.playbook.problems import MalformedPlaybook, Problem
from swarm.config.yaml_file import BROKEN

Place = Sequence[str | int]


@dataclass(frozen=True)
class Document:
    """One file, parsed. `values` are plain dicts, lists and scalars."""

    path: Path
    values: Mapping[str, Any]
    _tree: CommentedMap

    def line(self, place: Place) -> int:
        """The line of the deepest part of `place` that the file itself holds; counts from 1."""
        node: Any = self._tree
        line = 1
        for key in place:
            if isinstance(node, CommentedMap) and key in node:
                line = node.lc.key(key)[0] + 1
            elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
                line = node.lc.item(key)[0] + 1
            else:
                break
            node = node[key]
        return line


def read(path: Path) -> Document:
    """Parse a file. Raises MalformedPlaybook (PB001) when it is not a YAML mapping."""
    stat = path.stat()
    return _parse(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=128)
def _parse(path: Path, changed: int, size: int) -> Document:
    """The document of a file as it stood at `changed` (nanoseconds), `size` bytes long."""
    try:
        tree = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
        values = to_jsonable_python(tree, serialize_unknown=True, bytes_mode="base64")
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = (error.problem or "does not parse").split("\n")[0]
        raise MalformedPlaybook(
            path, [Problem("PB001", f"not YAML: {problem}", line=line)]
        ) from None
    except BROKEN as error:
        text = str(error).split("\n")[0]
        raise MalformedPlaybook(path, [Problem("PB001", f"not YAML: {text}", line=1)]) from None
    if not isinstance(tree, CommentedMap):
        raise MalformedPlaybook(path, [Problem("PB001", "no mapping of keys to values", line=1)])
    return Document(path, values, tree)
