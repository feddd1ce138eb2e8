"""A thin multi-LoRA layer: any number of adapters on one frozen base, routed by batch row. PEFT
holds the file format (`swarm.policy.adapters`); this layer exists because rows of one batch may
belong to different adapters and because each adapter's parameters must be an exact list."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from swarm.policy import targets as of_blocks
from swarm.policy.lora_function import adapted_linear
from swarm.policy.targets import ASKED, Coverage, Matrix


class Mixed(Protocol):
    """Adapters of many rows at once; see `swarm.policy.mixture`."""

    def add(self, layer: "LoraLinear", x_BTI: Tensor, y_BTO: Tensor) -> Tensor:
        """`y_BTO` plus each row's own adapter of `layer` at `x_BTI`."""
        ...


@dataclass
class Routing:
    """Which adapter a batch uses: that of `slot` (None: the bare base) or, where one is set, each
    row its own by a mixture. One object is shared by all layers of a model.
    """

    slot: str | None = None
    mixture: Mixed | None = None

    @contextmanager
    def using(self, slot: str | None = None, mixture: Mixed | None = None) -> Iterator[None]:
        """Within this context all rows use `slot`, or each that which the mixture assigns to it."""
        before = self.slot, self.mixture
        self.slot, self.mixture = slot, mixture
        try:
            yield
        finally:
            self.slot, self.mixture = before


@dataclass
class Pair:
    """One adapter at one layer: `a` is [rank, in], `b` is [out, rank], fp32."""

    a: nn.Parameter
    b: nn.Parameter
    scale: float


class LoraLinear(nn.Module):
    """y = W x + scale * B A x, with (A, B) chosen by the routing. `packed`, while it is set, gives
    W x in place of `base`, without a gradient. `base` may be GPT-2's Conv1D, whose weight is
    [in, out]."""

    def __init__(self, base: nn.Linear | Conv1D, routing: Routing) -> None:
        super().__init__()
        self.base = base
        self.routing = routing
        self.pairs: dict[str, Pair] = {}
        self.packed: Callable[[Tensor], Tensor] | None = None

    @property
    def base_weight(self) -> Tensor:
        """The base's weight, [out, in]."""
        weight: Tensor = self.base.weight
        return weight.t() if isinstance(self.base, Conv1D) else weight

    def add(self, slot: str, rank: int, alpha: float, rng: torch.Generator) -> Pair:
        """A new adapter: A Kaiming-uniform as PEFT draws it, B zero, so it starts as the base."""
        device = self.base.weight.device
        wide, narrow = self.base_weight.shape
        bound = 1 / math.sqrt(narrow)
        a = torch.empty(rank, narrow).uniform_(-bound, bound, generator=rng)
        b = torch.zeros(wide, rank)
        pair = Pair(nn.Parameter(a.to(device)), nn.Parameter(b.to(device)), alpha / rank)
        self.pairs[slot] = pair
        return pair

    def forward(self, x_BTI: Tensor) -> Tensor:
        if self.routing.mixture is not None:
            return self.routing.mixture.add(self, x_BTI, self._base(x_BTI))
        slot = self.routing.slot
        pair = None if slot is None else self.pairs.get(slot)
        if pair is None:
            return self._base(x_BTI)
        base = self.base
        return adapted_linear(x_BTI, self.base_weight, base.bias, pair.a, pair.b, pair.scale)

    def _base(self, x_BTI: Tensor) -> Tensor:
        y_BTO: Tensor = (self.packed or self.base)(x_BTI)
        return y_BTO


@dataclass
class AdapterHost:
    """A base model whose linear layers accept adapters, and the layers by module path. `matrices`
    are the weights of its blocks, adaptable or not."""

    model: nn.Module
    routing: Routing = field(default_factory=Routing)
    layers: dict[str, LoraLinear] = field(default_factory=dict)
    matrices: Sequence[Matrix] = ()

    @classmethod
    def wrap(cls, model: nn.Module) -> "AdapterHost":
        """Freeze `model` and put a `LoraLinear` around each linear layer of its blocks."""
        host = cls(model, matrices=of_blocks.matrices(model))
        model.requires_grad_(False)
        for path in (matrix.module for matrix in host.matrices if matrix.linear):
            parent_path, _, name = path.rpartition(".")
            layer = LoraLinear(model.get_submodule(path), host.routing)
            setattr(model.get_submodule(parent_path), name, layer)
            host.layers[path] = layer
        return host

    def coverage(self, targets: str) -> Coverage:
        """What `targets` adapts of the blocks' weights."""
        return of_blocks.coverage(self.matrices, targets)

    def create(
        self, slot: str, rank: int, alpha: float, targets: str, seed: int
    ) -> dict[str, Pair]:
        """A fresh adapter on the chosen layers, by module path. Raises ValueError if taken, Refusal
        where `targets` asks for weights that take no adapter."""
        if self.holds(slot):
            raise ValueError(f"the slot {slot!r} is taken")
        of_blocks.check(type(self.model).__name__, self.coverage(targets), targets)
        rng = torch.Generator().manual_seed(seed)
        return {
            matrix.module: self.layers[matrix.module].add(slot, rank, alpha, rng)
            for matrix in self.matrices
            if matrix.linear and matrix.kind in ASKED[targets]
        }

    def target_names(self, adapted: Sequence[str]) -> list[str]:
        """`target_modules` by which PEFT adapts exactly the layers at these paths."""
        inner = {f"{path}.base" for path in self.layers}
        modules = (path for path, _ in self.model.named_modules() if path not in inner)
        return of_blocks.shortest_names(adapted, modules)

    def base_state_dict(self) -> dict[str, Tensor]:
        """The base model's weights under the names they have without this layer."""
        inner = {f"{path}.base": path for path in self.layers}
        state = {}
        for key, tensor in self.model.state_dict().items():
            module, _, name = key.rpartition(".")
            state[f"{inner.get(module, module)}.{name}"] = tensor
        return state

    def holds(self, slot: str) -> bool:
        """Whether any layer has an adapter of this slot."""
        return any(slot in layer.pairs for layer in self.layers.values())
