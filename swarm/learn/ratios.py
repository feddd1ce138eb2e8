"""Ratios of probabilities, bounded, of single tokens and of whole sequences."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from swarm.records import IntArray, TokenTree

#: log-ratios are clamped to this before exp, so that no ratio overflows fp32.
MAX_LOG_RATIO = 20.0


def log_ratio(logprobs: Tensor, others: Tensor) -> Tensor:
    """log(p/q) from two [M] log-probabilities, within +-MAX_LOG_RATIO."""
    return (logprobs - others).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def sequence_mean(values: Tensor, sequences: Tensor) -> Tensor:
    """[M]: each token's mean over its sequence. `sequences` is [M], ids from 0."""
    count = int(sequences.max()) + 1
    sums = values.new_zeros(count).index_add(0, sequences, values)
    lengths = values.new_zeros(count).index_add(0, sequences, torch.ones_like(values))
    return (sums / lengths.clamp(min=1))[sequences]


def sequence_ids(trees: Sequence[TokenTree]) -> IntArray:
    """[M]: the branch of each trained token, in tree order, numbered from 0 over all trees.

    A sequence is one branch: a path from the root to a leaf. Raises ValueError when a trained token
    lies on several branches, for then its sequence is not defined.
    """
    found = [np.zeros(0, np.int64)]
    first = 0
    for index, tree in enumerate(trees):
        branches = _branches(tree)
        for number, (node, leaves) in enumerate(zip(tree.nodes, branches, strict=True)):
            trained = node.trained
            if trained and len(leaves) > 1:
                raise ValueError(
                    "a sequence-level ratio (algorithm.ratio, algorithm.correction) needs trained "
                    f"tokens on one branch each; node {number} of tree {index} is on {len(leaves)}"
                )
            if trained:
                found.append(np.full(trained, first + min(leaves), np.int64))
        first += len(tree.nodes)
    return np.unique(np.concatenate(found), return_inverse=True)[1].astype(np.int64)


def _branches(tree: TokenTree) -> list[set[int]]:
    """Per node, the leaves below it, itself if it is one."""
    leaves: list[set[int]] = [set() for _ in tree.nodes]
    for index in range(len(tree.nodes) - 1, -1, -1):
        leaves[index] = leaves[index] or {index}
        parent = tree.nodes[index].parent
        if parent is not None:
            leaves[parent] |= leaves[index]
    return leaves
