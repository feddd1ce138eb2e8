"""Rows of several adapters, and of the bare base, through one forward pass, for sampling.

In each layer the adapters' matrices stand below each other: A [K, in] and B [K, out], K the sum of
ranks. The low-rank activations x Aᵀ [K] of a row are multiplied by its mask (the adapter's scale
where its own adapter stands, 0 elsewhere), then by B. Two matrix products of ordinary size read
each adapter once, whatever the order of rows and the ranks; a row's work grows with K.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.policy.lora import AdapterHost, LoraLinear

#: Which slot's adapter stands where: (slot's number, rank, scale) from the top.
Layout = tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class _Stack:
    layout: Layout
    a_IK: Tensor
    b_KO: Tensor


class Mixture:
    """Adapters of a host, copied, and which row of the batch uses which."""

    def __init__(self, host: AdapterHost, slots: Sequence[str]) -> None:
        """Raises ValueError naming a slot whose weights are not finite: its zero share in other
        rows would not be zero."""
        self.slots = tuple(slots)
        self._stacks: dict[LoraLinear, _Stack] = {}
        for layer in host.layers.values():
            present = [(n, layer.pairs[s]) for n, s in enumerate(slots) if s in layer.pairs]
            if not present:
                continue
            for number, pair in present:
                if not (pair.a.isfinite().all() and pair.b.isfinite().all()):
                    raise ValueError(f"the adapter in slot {slots[number]!r} is not finite")
            self._stacks[layer] = _Stack(
                tuple((n, pair.a.shape[0], pair.scale) for n, pair in present),
                torch.cat([pair.a.detach() for _, pair in present]).T,
                torch.cat([pair.b.detach().T for _, pair in present]),
            )
        layouts = {stack.layout: stack.b_KO.device for stack in self._stacks.values()}
        self._scales_SK = {
            layout: self._scales(layout).to(where) for layout, where in layouts.items()
        }
        self._masks: dict[Layout, Tensor] = {}

    def _scales(self, layout: Layout) -> Tensor:
        """[S + 1, K]: the mask of a row of each slot; the last is the bare base's."""
        scales_SK = torch.zeros(len(self.slots) + 1, sum(rank for _, rank, _ in layout))
        start = 0
        for number, rank, scale in layout:
            scales_SK[number, start : start + rank] = scale
            start += rank
        return scales_SK

    def assign(self, row_slots: Sequence[str | None]) -> None:
        """Row i of the next passes uses slot `row_slots[i]`; None is the bare base."""
        number = {slot: n for n, slot in enumerate(self.slots)} | {None: len(self.slots)}
        rows = torch.as_tensor([number[slot] for slot in row_slots])
        self._masks = {
            layout: scales_SK[rows.to(scales_SK.device)][:, None]
            for layout, scales_SK in self._scales_SK.items()
        }

    def add(self, layer: LoraLinear, x_BTI: Tensor, y_BTO: Tensor) -> Tensor:
        """`y_BTO` plus each row's own adapter of `layer` at `x_BTI`."""
        stack = self._stacks.get(layer)
        if stack is None:
            return y_BTO
        low_BTK = (x_BTI.to(stack.a_IK.dtype) @ stack.a_IK) * self._masks[stack.layout]
        if y_BTO.dtype != stack.b_KO.dtype:
            return y_BTO + (low_BTK @ stack.b_KO).to(y_BTO.dtype)
        y_NO = torch.addmm(y_BTO.flatten(0, 1), low_BTK.flatten(0, 1), stack.b_KO)
        return y_NO.view_as(y_BTO)
