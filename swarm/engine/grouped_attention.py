"""Attention of the engine: what a row may see, and one query a row without expanding grouped keys
and values.

transformers repeats keys and values to the number of query heads whenever a mask is given. With
one query a row that copy is as large as the whole cache, each layer and step. Here the query
heads that share a key head become the query axis instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "grouped_sdpa"


class Visible:
    """Which columns each query sees: its own and those before it, the last `window` of them in
    layers that have a window. Masks are additive, built once for all layers."""

    def __init__(self, positions_BT: Tensor, columns: int, dtype: torch.dtype) -> None:
        self._positions_BT1 = positions_BT[..., None]
        self._columns = torch.arange(columns, device=positions_BT.device)
        self._dtype = dtype
        self._masks: dict[int | None, Tensor] = {}

    def within(self, window: int | None = None) -> Tensor:
        """[B, 1, T, columns]."""
        if window is not None and window >= len(self._columns):
            window = None
        if window not in self._masks:
            unseen_BTW = self._columns > self._positions_BT1
            if window is not None:
                unseen_BTW |= self._columns <= self._positions_BT1 - window
            mask_BTW = torch.zeros(unseen_BTW.shape, dtype=self._dtype, device=unseen_BTW.device)
            self._masks[window] = mask_BTW.masked_fill_(unseen_BTW, -torch.inf)[:, None]
        return self._masks[window]


def grouped_attention(
    module: nn.Module,
    query_BHTD: Tensor,
    key_BKWD: Tensor,
    value_BKWD: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    visible: Visible | None = None,
    sliding_window: int | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """transformers' attention interface: the mixed values [B, T, H, D]. Differentiable. More than
    one query a row, or as many key heads as query heads, is transformers' own SDPA. Without
    `visible` every query sees all columns up to its own."""
    if visible is not None:
        attention_mask = visible.within(sliding_window)
    rows, heads, queries, width = query_BHTD.shape
    shared = key_BKWD.shape[1]
    if queries > 1 or heads == shared:
        plain: tuple[Tensor, None] = sdpa_attention_forward(
            module, query_BHTD, key_BKWD, value_BKWD, attention_mask, scaling=scaling, **kwargs
        )
        return plain
    query_BKGD = query_BHTD.view(rows, shared, heads // shared, width)
    mixed_BKGD = scaled_dot_product_attention(
        query_BKGD, key_BKWD, value_BKWD, attn_mask=attention_mask, scale=scaling
    )
    return mixed_BKGD.reshape(rows, 1, heads, width), None


@contextmanager
def grouped(decoder: Any) -> Iterator[None]:
    """Within this context the decoder's layers use `grouped_attention`."""
    config = decoder.config
    before = config._attn_implementation
    ALL_ATTENTION_FUNCTIONS.register(NAME, grouped_attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, sdpa_mask)
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
