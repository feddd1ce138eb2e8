"""Keys and values of prompts and of rows in flight, in buffers that are written in place.

Axes: L layers, 2 for keys and values, R rows, W columns, C = key heads x head width. Column p of a
row holds its position p, so a row of length n attends to columns below n, whatever lies beyond.
"""

from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

#: Columns beyond the longest prompt that a new cache has.
SPARE = 32


class PromptCache(Cache):
    """What a prefill leaves behind: each layer's keys and values, as they came."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.found: list[tuple[Tensor, Tensor]] = []

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        self.found.append((key_states, value_states))
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_query_offset(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return query_length, 0

    def stacked(self) -> Tensor:
        """[L, 2, R, W, C]. Raises ValueError where layers, or keys and values, differ in shape."""
        shapes = {tensor.shape for pair in self.found for tensor in pair}
        if len(shapes) != 1:
            raise ValueError(
                "model.ref: the engine serves decoders whose layers all keep keys and values of "
                f"one shape, and this one keeps {sorted(map(tuple, shapes))}"
            )
        layers = [torch.stack(pair).transpose(2, 3).flatten(3) for pair in self.found]
        return torch.stack(layers)


class RowCache(Cache):
    """The rows in flight, always rows 0 to `count` - 1; capacity grows in columns."""

    def __init__(self, rows: int, like: Tensor, heads: int) -> None:
        """Room for `rows` rows of the first prompts `like` [L, 2, _, W, C] and some tokens."""
        super().__init__(layers=[])
        self.heads = heads
        layers, two, _, columns, width = like.shape
        self.kv = like.new_zeros(layers, two, rows, columns + SPARE, width)
        self._view()

    def _view(self) -> None:
        _, _, rows, columns, width = self.kv.shape
        self._flat = [(k.view(-1, width), v.view(-1, width)) for k, v in self.kv]
        shape = (rows, columns, self.heads, width // self.heads)
        self._by_head = [
            (k.view(shape).transpose(1, 2), v.view(shape).transpose(1, 2)) for k, v in self.kv
        ]

    def reserve(self, columns: int) -> None:
        """Grow to at least `columns` columns, at least by half, so that growth costs O(1) a
        token."""
        layers, two, rows, have, width = self.kv.shape
        if columns <= have:
            return
        grown = self.kv.new_zeros(layers, two, rows, max(columns, have + have // 2), width)
        grown[:, :, :, :have] = self.kv
        self.kv = grown
        self._view()

    def admit(self, start: int, prompts: Tensor, members: Tensor) -> None:
        """Rows from `start` on continue the prompts [L, 2, P, W, C] at indices `members`."""
        width = prompts.shape[3]
        self.reserve(width + 1)
        rows = slice(start, start + len(members))
        self.kv[:, :, rows, :width] = prompts.index_select(2, members)

    def move(self, sources: Tensor, targets: Tensor, columns: int) -> None:
        """Copy the first `columns` columns of some rows over those of others."""
        self.kv[:, :, targets, :columns] = self.kv[:, :, sources, :columns]

    def begin_step(self, lengths_B: Tensor, columns: int) -> None:
        """The next forward pass writes column `lengths_B[i]` of each row i and reads the first
        `columns` columns."""
        self.reserve(columns)
        self._count, self._columns = len(lengths_B), columns
        rows = torch.arange(len(lengths_B), device=lengths_B.device)
        self._places_B = rows * self.kv.shape[3] + lengths_B

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write one token a row ([B, heads, 1, D]); all keys and values in use, as views."""
        keys, values = self._flat[layer_idx]
        keys.index_copy_(0, self._places_B, key_states.transpose(1, 2).reshape(self._count, -1))
        values.index_copy_(0, self._places_B, value_states.transpose(1, 2).reshape(self._count, -1))
        keys, values = self._by_head[layer_idx]
        count, columns = self._count, self._columns
        return keys[:count, :, :columns], values[:count, :, :columns]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._columns - 1
