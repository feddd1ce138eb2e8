"""Frozen weights in the layout by which oneDNN multiplies few rows fastest, for decoding on a CPU.

A decoding step multiplies tens of rows by every weight of the base. The usual kernel packs a weight
anew at each call, which then costs a quarter of the step; here it is packed once. That takes a
second copy of the base, so large bases go without, and so do layers too small to gain.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from swarm.policy.lora import AdapterHost
from swarm.policy.wide_head import wide_head

#: Elements of a weight below which a packed product takes longer than a plain one.
LEAST = 2**16

#: Bytes that the packed copy may take in all.
MOST = 2**31


class PackedLinear:
    """W x + b by a packed copy of a layer's weight, packed again when the weight has changed."""

    def __init__(self, linear: nn.Linear) -> None:
        self.linear = linear
        self._of: tuple[int, int] | None = None
        self._packed: Any = None

    def __call__(self, x: Tensor) -> Tensor:
        weight = self.linear.weight
        now = (weight.data_ptr(), weight._version)
        if self._of != now:
            self._packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), None)
            self._of = now
        found: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self._packed, self.linear.bias, "none", [], ""
        )
        return found


class PackedBase:
    """The packed layers of a host's base and its head, where packing pays; without a gradient."""

    def __init__(self, host: AdapterHost) -> None:
        self._host = host
        head: nn.Linear = host.model.get_output_embeddings()  # type: ignore[operator]
        bases = [layer.base for layer in host.layers.values()]
        linears = [*(base for base in bases if isinstance(base, nn.Linear)), head]
        chosen = [linear for linear in linears if _gains(linear)]
        size = sum(linear.weight.nbytes for linear in chosen)
        self._packed = {linear: PackedLinear(linear) for linear in chosen} if size <= MOST else {}
        self._head = head

    @property
    def head(self) -> Callable[[Tensor], Tensor]:
        """The head as it is now, with logits in fp32 at least."""
        if self._head.weight.itemsize < torch.float32.itemsize:
            return wide_head(self._head.weight, self._head.bias)
        return self._packed.get(self._head, self._head)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Within this context the layers multiply by their packed weights."""
        layers = [layer for layer in self._host.layers.values() if layer.base in self._packed]
        try:
            for layer in layers:
                layer.packed = self._packed[layer.base]
            yield
        finally:
            for layer in layers:
                layer.packed = None


def _gains(linear: nn.Linear) -> bool:
    weight = linear.weight
    return (
        torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # private, so a torch may lack it
        and weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and not weight.requires_grad
        and weight.numel() >= LEAST
    )
