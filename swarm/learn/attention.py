"""Attention along token trees, as an attention function of transformers.

A packed row (`swarm.learn.packing`) runs through any decoder whose layers ask transformers'
`AttentionInterface` for their attention: projections, rotary embedding and MLP see tokens, and
only this function knows which token follows which.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface

from swarm.errors import ModelUnavailable
from swarm.learn.packing import Bucket, PackedTrees

NAME = "token_tree"

#: Arguments that change what attention computes, in models that have them.
_OTHER_MATHS = ("softcap", "s_aux", "position_bias")


class TreeAttention:
    """The buckets of a packed row on a device. `calls` counts the layers that have asked."""

    def __init__(self, packed: PackedTrees, device: torch.device) -> None:
        self.buckets = packed.buckets
        self.device = device
        self.calls = 0
        self._queries = [self._index(bucket.queries_BT) for bucket in packed.buckets]
        self._keys = [self._index(bucket.keys_BS) for bucket in packed.buckets]
        self._places = self._index(packed.places_N)
        self._masks: dict[tuple[int, int | None, torch.dtype], Tensor] = {}

    def attend(
        self, q_NHD: Tensor, k_NKD: Tensor, v_NKD: Tensor, scale: float | None, window: int | None
    ) -> Tensor:
        """[N, H, D]: each token's attention over its path. Rows are taken by `index_select`, whose
        backward adds in a fixed order on the CPU; indexing's does not on several threads."""
        self.calls += 1
        found = []
        for i, bucket in enumerate(self.buckets):
            (b, t), s = bucket.queries_BT.shape, bucket.keys_BS.shape[1]
            q_BTHD = q_NHD.index_select(0, self._queries[i]).view(b, t, *q_NHD.shape[1:])
            k_BSKD = k_NKD.index_select(0, self._keys[i]).view(b, s, *k_NKD.shape[1:])
            v_BSKD = v_NKD.index_select(0, self._keys[i]).view(b, s, *v_NKD.shape[1:])
            causal = bucket.roots and window is None
            out_BHTD = functional.scaled_dot_product_attention(
                q_BTHD.transpose(1, 2),
                k_BSKD.transpose(1, 2),
                v_BSKD.transpose(1, 2),
                attn_mask=None if causal else self._mask(i, bucket, window, q_NHD.dtype),
                is_causal=causal,
                scale=scale,
                enable_gqa=q_NHD.shape[1] != k_NKD.shape[1],
            )
            found.append(out_BHTD.transpose(1, 2).flatten(0, 1))
        return torch.cat(found).index_select(0, self._places)

    def _mask(self, i: int, bucket: Bucket, window: int | None, dtype: torch.dtype) -> Tensor:
        """[B or 1, 1, T, S], additive; built once for all layers."""
        key = (i, window, dtype)
        if key not in self._masks:
            visible_BTS = torch.as_tensor(bucket.visible(window), device=self.device)
            zeros = torch.zeros(visible_BTS.shape, dtype=dtype, device=self.device)
            self._masks[key] = zeros.masked_fill_(~visible_BTS, float("-inf"))[:, None]
        return self._masks[key]

    def _index(self, indices: np.ndarray) -> Tensor:
        return torch.as_tensor(indices.ravel(), device=self.device)


def tree_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    token_tree: TreeAttention,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """What a decoder layer calls: [1, heads, N, D] each, the result is [1, N, heads, D]. Raises
    ModelUnavailable where attention is more than a softmax over scaled scores."""
    used = [name for name in _OTHER_MATHS if options.get(name) is not None]
    if used:
        raise ModelUnavailable(
            f"its {type(module).__name__} uses {used[0]}, which cannot be trained here",
            "take a model of plain attention",
        )
    q_NHD, k_NKD, v_NKD = (x[0].transpose(0, 1) for x in (query, key, value))
    return token_tree.attend(q_NHD, k_NKD, v_NKD, scaling, sliding_window)[None], None


AttentionInterface.register(NAME, tree_attention)


@contextmanager
def along_trees(config: Any) -> Iterator[None]:
    """Within this context the layers of the model with this `config` call `tree_attention`."""
    before = config._attn_implementation
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
