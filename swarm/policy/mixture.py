"""Rows of several adapters, and of the bare base, through one forward pass, for sampling.

In each layer the adapters stand stacked, A [S, in, R] and B [S, R, out], smaller ranks and layers
without the adapter filled up with zeros. Rows are brought together by adapter, so that two batched
products serve them all and read each adapter once. Nothing of one row enters another's sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.policy.lora import AdapterHost, LoraLinear, Pair


@dataclass(frozen=True)
class _Stack:
    """The adapters of one layer; `b_SRO` contains the scales."""

    a_SIR: Tensor
    b_SRO: Tensor


@dataclass(frozen=True)
class _Assignment:
    """`gathered` [S x M] are the batch rows by adapter, each adapter's padded to M with any row;
    `rows` [N] are the rows that have an adapter, `places` [N] where they stand in `gathered`.
    `in_order`: the whole batch is gathered as it stands."""

    gathered: Tensor
    rows: Tensor
    places: Tensor
    in_order: bool


class Mixture:
    """Adapters of a host, copied, and which row of the batch uses which."""

    def __init__(self, host: AdapterHost, slots: Sequence[str]) -> None:
        self.slots = tuple(slots)
        self._stacks = {
            layer: _stack([layer.pairs.get(slot) for slot in slots])
            for layer in host.layers.values()
            if any(slot in layer.pairs for slot in slots)
        }
        self._device = next(host.model.parameters()).device
        self._row_slots: tuple[str | None, ...] = ()
        self._assigned = self._assignment()

    def assign(self, row_slots: Sequence[str | None]) -> None:
        """Row i of the next passes uses slot `row_slots[i]`; None is the bare base."""
        if tuple(row_slots) != self._row_slots:
            self._row_slots = tuple(row_slots)
            self._assigned = self._assignment()

    def _assignment(self) -> _Assignment:
        by_slot = [
            [row for row, slot in enumerate(self._row_slots) if slot == own] for own in self.slots
        ]
        most = max(map(len, by_slot))
        gathered = [row for rows in by_slot for row in rows + [0] * (most - len(rows))]
        rows = [row for rows in by_slot for row in rows]
        places = [n * most + i for n, rows in enumerate(by_slot) for i in range(len(rows))]
        whole = list(range(len(self._row_slots)))
        gathered_N, rows_N, places_N = (
            torch.tensor(part, dtype=torch.long, device=self._device)
            for part in (gathered, rows, places)
        )
        return _Assignment(gathered_N, rows_N, places_N, gathered == rows == whole)

    def add(self, layer: LoraLinear, x_BTI: Tensor, y_BTO: Tensor) -> Tensor:
        """`y_BTO`, in place, plus each row's own adapter of `layer` at `x_BTI`; a mixture of
        experts hands its tokens on as [B x T, I]."""
        stack, now = self._stacks.get(layer), self._assigned
        if stack is None or not len(now.rows):
            return y_BTO
        if x_BTI.dim() == 2:
            rows = len(self._row_slots)
            x_BTI, y_NO = x_BTI.view(rows, -1, x_BTI.shape[1]), y_BTO
            return self.add(layer, x_BTI, y_NO.view(rows, -1, y_NO.shape[1])).view_as(y_NO)
        slots, _, width = stack.b_SRO.shape
        if not now.in_order:
            x_BTI = x_BTI[now.gathered]
        x_SNI = x_BTI.reshape(slots, -1, x_BTI.shape[2]).to(stack.a_SIR.dtype)
        low_SNR = torch.bmm(x_SNI, stack.a_SIR)
        if now.in_order and y_BTO.dtype == stack.b_SRO.dtype:
            y_SNO = y_BTO.view(slots, -1, width)
            return torch.baddbmm(y_SNO, low_SNR, stack.b_SRO).view_as(y_BTO)
        delta_GTO = torch.bmm(low_SNR, stack.b_SRO).view(len(x_BTI), -1, width)
        return y_BTO.index_add_(0, now.rows, delta_GTO[now.places].to(y_BTO.dtype))


def _stack(pairs: Sequence[Pair | None]) -> _Stack:
    present = [pair for pair in pairs if pair is not None]
    rank = max(pair.a.shape[0] for pair in present)
    like = present[0]
    a_SIR = like.a.new_zeros(len(pairs), like.a.shape[1], rank)
    b_SRO = like.b.new_zeros(len(pairs), rank, like.b.shape[0])
    for n, pair in enumerate(pairs):
        if pair is not None:
            a_SIR[n, :, : pair.a.shape[0]] = pair.a.detach().T
            b_SRO[n, : pair.a.shape[0]] = pair.b.detach().T * pair.scale
    return _Stack(a_SIR, b_SRO)
