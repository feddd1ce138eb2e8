"""A batch of token trees on disk, to be looked at and to be loaded.

trees.safetensors   every array of every node, concatenated; `lengths`, `parents` and `versions`
                    have an entry a node, `nodes` an entry a tree
trees.jsonl         the same for people: one line a node, with its text
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from swarm.disk.folder import take_usual_modes, write_rows
from swarm.records import Node, TokenTree

ARRAYS, READABLE = "trees.safetensors", "trees.jsonl"

#: Per-token arrays of a node, by its field.
_FIELDS = ("tokens", "mask", "logprobs", "weight", "advantage")
_ROOT = -1


def save_trees(
    folder: Path, trees: Sequence[TokenTree], decode: Callable[[list[int]], str]
) -> None:
    """Write `trees` below `folder`; `decode` makes text of token ids."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [node for tree in trees for node in tree.nodes]
    arrays = {name: np.concatenate([getattr(n, name) for n in nodes]) for name in _FIELDS}
    arrays["nodes"] = np.asarray([len(tree.nodes) for tree in trees], np.int64)
    arrays["lengths"] = np.asarray([len(n.tokens) for n in nodes], np.int64)
    arrays["versions"] = np.asarray([n.version for n in nodes], np.int64)
    parents = [_ROOT if n.parent is None else n.parent for n in nodes]
    arrays["parents"] = np.asarray(parents, np.int64)
    save_file(arrays, folder / ARRAYS)
    take_usual_modes(folder)
    write_rows(
        folder / READABLE,
        [
            _row(number, index, node, decode)
            for number, tree in enumerate(trees)
            for index, node in enumerate(tree.nodes)
        ],
    )


def load_trees(folder: Path) -> list[TokenTree]:
    """The trees that `save_trees` wrote there, bit for bit. Raises FileNotFoundError."""
    arrays = load_file(folder / ARRAYS)
    ends = np.cumsum(arrays["lengths"])[:-1]
    fields = {name: np.split(arrays[name], ends) for name in _FIELDS}
    nodes = [
        Node(
            parent=None if parent == _ROOT else int(parent),
            version=int(version),
            **{name: values[index] for name, values in fields.items()},
        )
        for index, (parent, version) in enumerate(
            zip(arrays["parents"], arrays["versions"], strict=True)
        )
    ]
    ends = np.cumsum([0, *arrays["nodes"]])
    return [TokenTree(tuple(nodes[start:end])) for start, end in pairwise(ends)]


def _row(number: int, index: int, node: Node, decode: Callable[[list[int]], str]) -> dict[str, Any]:
    return {
        "tree": number,
        "node": index,
        "parent": node.parent,
        "version": node.version,
        "text": decode(node.tokens.tolist()),
        **{name: getattr(node, name).tolist() for name in _FIELDS},
    }
