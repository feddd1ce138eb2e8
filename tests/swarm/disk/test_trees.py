"""Token trees survive the disk bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from swarm.disk.trees import READABLE, load_trees, save_trees
from swarm.records import Node, TokenTree

#: Any bits, those of NaN included.
FLOATS = st.floats(width=32)


@st.composite
def trees(draw: st.DrawFn) -> TokenTree:
    nodes = []
    for index in range(draw(st.integers(1, 5))):
        length = draw(st.integers(1, 4))
        parent = None if index == 0 else draw(st.integers(0, index - 1))
        mask = draw(arrays.arrays(bool, length))
        if index == 0:
            mask[0] = False
        floats = [draw(arrays.arrays(np.float32, length, elements=FLOATS)) for _ in range(3)]
        tokens = draw(arrays.arrays(np.int64, length, elements=st.integers(0, 2**40)))
        nodes.append(Node(tokens, parent, mask, *floats, version=draw(st.integers(0, 9))))
    return TokenTree(tuple(nodes))


@given(st.lists(trees(), min_size=1, max_size=4))
def test_they_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, batch: list[TokenTree]
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    save_trees(folder, batch, str)
    found = load_trees(folder)
    assert [len(tree.nodes) for tree in found] == [len(tree.nodes) for tree in batch]
    pairs = [
        (one, other)
        for a, b in zip(found, batch, strict=True)
        for one, other in zip(a.nodes, b.nodes, strict=True)
    ]
    for one, other in pairs:
        assert (one.parent, one.version) == (other.parent, other.version)
        for name in ("tokens", "mask", "logprobs", "weight", "advantage"):
            left, right = getattr(one, name), getattr(other, name)
            assert (left.dtype, left.tobytes()) == (right.dtype, right.tobytes())
    rows = [json.loads(line) for line in (folder / READABLE).read_text().splitlines()]
    assert [(row["tokens"], row["text"]) for row in rows] == [
        (node.tokens.tolist(), str(node.tokens.tolist())) for tree in batch for node in tree.nodes
    ]


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_trees(tmp_path)
