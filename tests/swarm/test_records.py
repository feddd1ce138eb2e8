"""What a tree of tokens refuses to be."""

import numpy as np
import pytest
from hypothesis import given
from support.forests import token_trees

from swarm.records import Node, TokenTree, action_node, context_node, reweighted


@given(tree=token_trees())
def test_new_weights_change_nothing_else(tree: TokenTree) -> None:
    weights = [np.full(len(node.tokens), 2.0, np.float32) for node in tree.nodes]
    other = reweighted(tree, weights)
    assert other.trained_tokens == tree.trained_tokens
    assert all(
        (a.weight == 2).all() and a.tokens is b.tokens
        for a, b in zip(other.nodes, tree.nodes, strict=True)
    )


@pytest.mark.parametrize("parent", [1, 2, -1, None])
def test_a_parent_precedes_its_child(parent: int | None) -> None:
    with pytest.raises(ValueError, match="node 1 has the parent"):
        TokenTree((context_node([3]), context_node([4], parent)))


def test_a_root_has_no_parent() -> None:
    with pytest.raises(ValueError, match="node 0 has the parent 0"):
        TokenTree((action_node([3], 0),))


def test_the_first_token_of_all_cannot_be_trained() -> None:
    zeros = np.zeros(2, np.float32)
    root = Node(np.array([3, 4]), None, np.array([True, True]), zeros, zeros, zeros)
    with pytest.raises(ValueError, match="first token"):
        TokenTree((root,))


def test_a_nodes_arrays_share_one_length() -> None:
    zeros = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="one length"):
        Node(np.array([3, 4]), None, np.array([False]), zeros, zeros, zeros)
    with pytest.raises(ValueError, match="one length"):
        context_node([])
