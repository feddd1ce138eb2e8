"""Keys and values of prompts and of rows in flight, in buffers that are written in place. Axes: L
layers, 2 for keys and values, R rows, K key heads, W columns, D head width. Column p of a row holds
its position p, so a row of length n attends to columns below n, whatever lies beyond."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.cache_utils import Cache

from swarm.errors import ModelUnavailable

#: A new cache reserves up to this many bytes for columns that its rows may need later. On a CPU
#: they take memory only once written, while growing the cache copies all of it.
AT_ONCE = 2**31


class PromptCache(Cache):  # type: ignore[misc]
    """What a prefill leaves behind: each layer's keys and values, as they came, behind those of
    the prefix that its prompts continue."""

    def __init__(self, prefix: Tensor | None = None) -> None:
        """`prefix` [L, 2, P, K, W, D], a row for each prompt."""
        super().__init__(layers=[])
        self.prefix = prefix
        self.found: list[tuple[Tensor, Tensor]] = []

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        if self.prefix is not None:
            keys, values = self.prefix[layer_idx]
            key_states = torch.cat([keys, key_states], 2)
            value_states = torch.cat([values, value_states], 2)
        self.found.append((key_states, value_states))
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_query_offset(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return query_length, 0

    def stacked(self) -> Tensor:
        """[L, 2, R, K, W, D]. Raises ModelUnavailable where keys and values differ in shape."""
        shapes = {tensor.shape for pair in self.found for tensor in pair}
        if len(shapes) != 1:
            raise ModelUnavailable(
                "the engine serves decoders whose layers all keep keys and values of one shape, "
                f"and this one keeps {sorted(map(tuple, shapes))}",
                "take a model whose layers are alike",
            )
        return torch.stack([torch.stack(pair) for pair in self.found])


class RowCache(Cache):  # type: ignore[misc]
    """The rows in flight, always the first ones; capacity grows in columns where it must."""

    def __init__(self, rows: int, like: Tensor, longest: int) -> None:
        """Room for `rows` rows of the first prompts `like` [L, 2, _, K, W, D] and, within bounds,
        for as many columns as the `longest` row can take."""
        super().__init__(layers=[])
        layers, two, _, heads, columns, width = like.shape
        column = layers * two * rows * heads * width * like.element_size()
        columns = max(columns + 1, min(longest, AT_ONCE // column))
        self._written = 0  # columns of any row that were ever written
        self._hold(_zeros((layers, two, rows, heads, columns, width), like))

    def _hold(self, kv: Tensor) -> None:
        self.kv = kv
        self._layers = [(k, v, k.view(-1, k.shape[-1]), v.view(-1, v.shape[-1])) for k, v in kv]

    def reserve(self, columns: int) -> None:
        """Grow to at least `columns` columns, at least by half, so that growth costs O(1) a
        token."""
        have = self.kv.shape[4]
        if columns <= have:
            return
        grown = _zeros(
            (*self.kv.shape[:4], max(columns, have + have // 2), self.kv.shape[5]), self.kv
        )
        grown[..., :have, :] = self.kv
        self._hold(grown)

    def admit(self, start: int, prompts: Tensor, members: Tensor) -> None:
        """Rows from `start` on continue the prompts [L, 2, P, K, W, D] at indices `members`.
        Whatever an earlier row left beyond is cleared, here and in `move`: a masked column still
        enters a sum with weight 0, and 0 x NaN of another adapter's row would be NaN."""
        width = prompts.shape[4]
        self.reserve(width + 1)
        self._written = max(self._written, width)
        rows = slice(start, start + len(members))
        for kept, found in zip(self.kv.flatten(0, 1), prompts.flatten(0, 1), strict=True):
            kept[rows, :, :width] = found.index_select(0, members)  # one copy small enough to reuse
        self.kv[:, :, rows, :, width : self._written] = 0

    def move(self, sources: Tensor, targets: Tensor, columns: int) -> None:
        """Copy the first `columns` columns of some rows over those of others."""
        self.kv[:, :, targets, :, :columns] = self.kv[:, :, sources, :, :columns]
        self.kv[:, :, targets, :, columns : self._written] = 0

    def begin_step(self, lengths_B: Tensor, columns: int) -> None:
        """The next forward pass writes column `lengths_B[i]` of each row i and reads the first
        `columns` columns."""
        self.reserve(columns)
        self._written = max(self._written, columns)
        _, _, _, heads, have, _ = self.kv.shape
        self._count, self._columns = len(lengths_B), columns
        firsts = torch.arange(self._count * heads, device=lengths_B.device) * have
        self._places = firsts + lengths_B.repeat_interleave(heads)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write one token a row ([B, K, 1, D]); all keys and values in use, as views."""
        keys, values, flat_keys, flat_values = self._layers[layer_idx]
        flat_keys.index_copy_(0, self._places, key_states.flatten(0, 2))
        flat_values.index_copy_(0, self._places, value_states.flatten(0, 2))
        count, columns = self._count, self._columns
        return keys[:count, :, :columns], values[:count, :, :columns]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._columns - 1


def _zeros(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Zeros. On the CPU the system clears memory when it is first used, and most of it never is.
    Columns that are masked must hold numbers: a weight of 0 times NaN is NaN."""
    if like.device.type != "cpu":
        return like.new_zeros(shape)
    raw = np.zeros(math.prod(shape) * like.element_size(), np.uint8)
    return torch.from_numpy(raw).view(like.dtype).view(shape)
