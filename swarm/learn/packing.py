"""Token trees as one row of tokens, each token once, and what each node's tokens attend to. Every
layer but attention works on tokens alone, so a packed row costs them no padding whatever the
lengths. Attention runs on buckets of nodes of like shape: only there is anything padded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swarm.records import BoolArray, IntArray, TokenTree

#: Most score cells (queries x keys) that a bucket may spend on padding; about what one more call of
#: the attention kernel costs, forward and backward.
WASTE = 8192


@dataclass(frozen=True)
class Bucket:
    """Nodes that attend as one batch, as indices into the packed row: `queries_BT` of the nodes'
    own tokens, `keys_BS` of their paths from the root, both padded on the right with a token of
    the same node. `before_B` counts the tokens above each node: query t stands at key
    before + t."""

    queries_BT: IntArray
    keys_BS: IntArray
    before_B: IntArray

    @property
    def roots(self) -> bool:
        return not self.before_B.any()

    def visible(self, window: int | None = None) -> BoolArray:
        """Which keys a query may see: itself and those before it, the last `window` of them.

        [1, T, S] where it is the same for all nodes. Padded keys stand after every real query;
        padded queries see something, so that their softmax is finite, and are dropped.
        """
        same = np.unique(self.before_B)
        before_B = same if len(same) == 1 else self.before_B
        at_BT1 = (before_B[:, None] + np.arange(self.queries_BT.shape[1]))[:, :, None]
        key_S = np.arange(self.keys_BS.shape[1])
        visible: BoolArray = key_S <= at_BT1
        return visible if window is None else visible & (key_S > at_BT1 - window)


@dataclass(frozen=True)
class PackedTrees:
    """`tokens_N` tree by tree, node by node; `positions_N` count along the path. `predictors_M`
    are where the state stands that predicts each trained token `targets_M`: one token before it,
    for the first token of a branch its parent's last. `places_N` finds each token's query among
    the buckets' queries, flattened and concatenated."""

    tokens_N: IntArray
    positions_N: IntArray
    predictors_M: IntArray
    targets_M: IntArray
    buckets: tuple[Bucket, ...]
    places_N: IntArray


def pack(trees: Sequence[TokenTree]) -> PackedTrees:
    """One row of all tokens of `trees`."""
    own: list[IntArray] = []
    paths: list[IntArray] = []
    predictors: list[IntArray] = []
    end = 0
    for tree in trees:
        first = len(own)
        for node in tree.nodes:
            slots = np.arange(end, end + len(node.tokens))
            end += len(node.tokens)
            before = slots[:0] if node.parent is None else paths[first + node.parent]
            path = np.concatenate([before, slots])
            predictors.append(path[np.flatnonzero(node.mask) + len(before) - 1])
            own.append(slots)
            paths.append(path)
    nodes = [node for tree in trees for node in tree.nodes]
    shapes = [(len(slots), len(path)) for slots, path in zip(own, paths, strict=True)]
    buckets = [
        Bucket(
            _padded([own[i] for i in b]),
            _padded([paths[i] for i in b]),
            np.asarray([len(paths[i]) - len(own[i]) for i in b]),
        )
        for b in by_shape(shapes)
    ]
    places_N = np.empty(end, np.int64)
    flat = np.concatenate([bucket.queries_BT.ravel() for bucket in buckets])
    places_N[flat[::-1]] = np.arange(len(flat))[::-1]  # a padded query repeats one that precedes it
    return PackedTrees(
        np.concatenate([node.tokens for node in nodes]),
        np.concatenate([np.arange(s - t, s) for t, s in shapes]),
        np.concatenate(predictors),
        np.concatenate([node.tokens[node.mask] for node in nodes]),
        tuple(buckets),
        places_N,
    )


def by_shape(shapes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Indices of (queries, keys) shapes in buckets that each pad at most WASTE score cells. Shapes
    with as many keys as queries, roots, which need no mask, keep to themselves."""
    buckets: list[list[int]] = []
    real, most_keys = 0, 0
    for i in sorted(range(len(shapes)), key=lambda i: (shapes[i][0] != shapes[i][1], shapes[i])):
        queries, keys = shapes[i]
        real, most_keys = real + queries * keys, max(most_keys, keys)
        padded = queries * most_keys * (len(buckets[-1]) + 1) if buckets else 0
        if (
            not buckets
            or padded - real > WASTE
            or _is_root(shapes[buckets[-1][0]]) != _is_root(shapes[i])
        ):
            buckets.append([])
            real, most_keys = queries * keys, keys
        buckets[-1].append(i)
    return buckets


def _is_root(shape: tuple[int, int]) -> bool:
    return shape[0] == shape[1]


def _padded(rows: Sequence[IntArray]) -> IntArray:
    """[rows, longest]; a row is padded with its last entry."""
    padded = np.empty((len(rows), max(map(len, rows))), np.int64)
    for to, row in zip(padded, rows, strict=True):
        to[: len(row)] = row
        to[len(row) :] = row[-1]
    return padded
