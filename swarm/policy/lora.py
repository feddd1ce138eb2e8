"""A thin multi-LoRA layer: any number of adapters on one frozen base, routed by batch row. PEFT
holds the file format (`swarm.policy.adapters`); this layer exists because rows of one batch may
belong to different adapters and because each adapter's parameters must be an exact list."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from swarm.policy.lora_function import adapted_linear

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP = ("gate_proj", "up_proj", "down_proj")
TARGETS = {"attention": ATTENTION, "mlp": MLP, "all": ATTENTION + MLP}


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
    W x in place of `base`, without a gradient."""

    def __init__(self, base: nn.Linear, routing: Routing) -> None:
        super().__init__()
        self.base = base
        self.routing = routing
        self.pairs: dict[str, Pair] = {}
        self.packed: Callable[[Tensor], Tensor] | None = None

    def add(self, slot: str, rank: int, alpha: float, rng: torch.Generator) -> Pair:
        """A new adapter: A Kaiming-uniform as PEFT draws it, B zero, so it starts as the base."""
        device = self.base.weight.device
        bound = 1 / math.sqrt(self.base.in_features)
        a = torch.empty(rank, self.base.in_features).uniform_(-bound, bound, generator=rng)
        b = torch.zeros(self.base.out_features, rank)
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
        return adapted_linear(x_BTI, base.weight, base.bias, pair.a, pair.b, pair.scale)

    def _base(self, x_BTI: Tensor) -> Tensor:
        y_BTO: Tensor = (self.packed or self.base)(x_BTI)
        return y_BTO


@dataclass
class AdapterHost:
    """A base model whose linear layers accept adapters, and the layers by module path."""

    model: nn.Module
    routing: Routing = field(default_factory=Routing)
    layers: dict[str, LoraLinear] = field(default_factory=dict)

    @classmethod
    def wrap(cls, model: nn.Module) -> "AdapterHost":
        """Freeze `model` and put a `LoraLinear` around each attention and MLP projection."""
        host = cls(model)
        model.requires_grad_(False)
        for path, module in list(model.named_modules()):
            if isinstance(module, nn.Linear) and path.rpartition(".")[2] in TARGETS["all"]:
                parent_path, _, name = path.rpartition(".")
                layer = LoraLinear(module, host.routing)
                setattr(model.get_submodule(parent_path), name, layer)
                host.layers[path] = layer
        return host

    def create(
        self, slot: str, rank: int, alpha: float, targets: str, seed: int
    ) -> dict[str, Pair]:
        """A fresh adapter on the chosen layers, by module path. Raises ValueError if taken."""
        if self.holds(slot):
            raise ValueError(f"the slot {slot!r} is taken")
        rng = torch.Generator().manual_seed(seed)
        return {
            path: layer.add(slot, rank, alpha, rng)
            for path, layer in self.layers.items()
            if path.rpartition(".")[2] in TARGETS[targets]
        }

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
