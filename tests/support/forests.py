"""Token trees to test with: random ones for hypothesis, and small ones by hand."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from support.models import VOCABULARY
from swarm.records import Node, TokenTree


@st.composite
def token_trees(draw: st.DrawFn, max_depth: int = 4, max_nodes: int = 7) -> TokenTree:
    """Any branching, node lengths 1 to 5, any mask that leaves the root's first token out."""
    nodes: list[Node] = []
    depths: list[int] = []
    for index in range(draw(st.integers(1, max_nodes))):
        above = [n for n, depth in enumerate(depths) if depth < max_depth]
        parent = draw(st.sampled_from(above)) if index else None
        depths.append(0 if parent is None else depths[parent] + 1)
        length = draw(st.integers(1, 5))
        mask = np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)))
        if index == 0:
            mask[0] = False
        seed = draw(st.integers(0, 2**16))
        nodes.append(random_node(np.random.default_rng(seed), length, parent, mask))
    return TokenTree(tuple(nodes))


def forests(max_trees: int = 3) -> st.SearchStrategy[list[TokenTree]]:
    """One to `max_trees` random trees."""
    return st.lists(token_trees(), min_size=1, max_size=max_trees)


def random_node(
    rng: np.random.Generator, length: int, parent: int | None, mask: np.ndarray
) -> Node:
    """A node of random tokens; its sampler log-probabilities lie near those of a real policy."""

    def floats(scale: float) -> np.ndarray:
        return (scale * rng.standard_normal(length)).astype(np.float32)

    return Node(
        rng.integers(0, VOCABULARY, length),
        parent,
        mask,
        -np.abs(floats(2.0)) - 1,
        np.abs(floats(0.1)) + 0.01,
        floats(1.0),
    )


def group_tree(prompt: Sequence[int], answers: Sequence[Sequence[int]], seed: int = 0) -> TokenTree:
    """A prompt and its trained answers, with random weights and advantages."""
    rng = np.random.default_rng(seed)
    root = random_node(rng, len(prompt), None, np.zeros(len(prompt), bool))
    nodes = [with_tokens(root, prompt)]
    for answer in answers:
        node = random_node(rng, len(answer), 0, np.ones(len(answer), bool))
        nodes.append(with_tokens(node, answer))
    return TokenTree(tuple(nodes))


def with_tokens(node: Node, tokens: Sequence[int]) -> Node:
    """The same node with other tokens, as many."""
    fields = (node.parent, node.mask, node.logprobs, node.weight, node.advantage, node.version)
    return Node(np.asarray(tokens, np.int64), *fields)
