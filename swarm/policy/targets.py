"""Which weights of a model an adapter can go on, found from its modules.

The blocks are the decoder's layers. A weight matrix of theirs is adapted where it is that of a
linear layer; the stacked weights of experts and of some routers are not. Embeddings and the LM head
are no part of a block.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn
from transformers.pytorch_utils import Conv1D

from swarm.errors import Refusal

Kind = Literal["attention", "mlp", "experts", "router"]

#: What each value of `policy.targets` asks for. `linear` is what of them can be adapted.
ASKED: Mapping[str, frozenset[Kind]] = {
    "attention": frozenset({"attention"}),
    "mlp": frozenset({"mlp", "experts"}),
    "all": frozenset({"attention", "mlp", "experts", "router"}),
    "linear": frozenset({"attention", "mlp", "experts", "router"}),
}


@dataclass(frozen=True)
class Matrix:
    """A weight of a block: `module` is the path of what holds it, `size` its elements; `linear`:
    an adapter can go on it."""

    module: str
    name: str
    kind: Kind
    size: int
    linear: bool


def matrices(model: Any) -> list[Matrix]:
    """The weight matrices of a model's blocks, in the order of its modules. Norms and biases, which
    are vectors, are left out, and so are the matrices of norms by head."""
    prefix, blocks = _blocks(model)
    found = []
    for path, module in blocks.named_modules():
        if "norm" in type(module).__name__.lower():
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.ndim >= 2:
                kind = _kind(path.split(".")[1:])
                linear = _is_linear(module) and "experts" not in path.split(".")
                found.append(Matrix(f"{prefix}.{path}", name, kind, parameter.numel(), linear))
    return found


def _blocks(model: Any) -> tuple[str, nn.ModuleList]:
    """The decoder's layers and their path in the model."""
    decoder, layers = model.get_decoder(), model.config.get_text_config().num_hidden_layers
    inside = {id(module) for module in decoder.modules()}
    for path, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == layers and id(module) in inside:
            return path, module
    raise Refusal(
        "model.ref", f"{type(model).__name__} has no list of {layers} layers", "take another model"
    )


def _is_linear(module: nn.Module) -> bool:
    """Whether a module's output is W x + b and nothing else."""
    return type(module).forward in (nn.Linear.forward, Conv1D.forward)


def _kind(parts: list[str]) -> Kind:
    """By the names of the modules from the block down."""
    if any("attn" in part or "attention" in part for part in parts):
        return "attention"
    if "experts" in parts:
        return "experts"
    if parts and (parts[-1] in ("gate", "router", "shared_expert_gate") or "router" in parts):
        return "router"
    return "mlp"


@dataclass(frozen=True)
class Coverage:
    """How much of the blocks' weight matrices an adapter is on: by kind, (adapted, all) elements.
    `gaps` are the weights that were asked for and take no adapter, by name within a block."""

    elements: Mapping[Kind, tuple[int, int]]
    gaps: tuple[str, ...]

    @property
    def share(self) -> float:
        adapted, whole = (sum(pair[i] for pair in self.elements.values()) for i in (0, 1))
        return adapted / whole if whole else 0.0

    def __str__(self) -> str:
        kinds = (f"{kind} {_percent(a, b)}" for kind, (a, b) in self.elements.items())
        return f"{self.share:.0%} of the blocks' weights ({', '.join(kinds)})"

    def to_json(self) -> dict[str, float]:
        """Shares, in all and by kind."""
        return {"all": round(self.share, 6)} | {
            kind: round(adapted / whole, 6) for kind, (adapted, whole) in self.elements.items()
        }


def coverage(found: Iterable[Matrix], targets: str) -> Coverage:
    """What `targets` covers of these matrices."""
    elements: dict[Kind, tuple[int, int]] = {}
    gaps: dict[str, None] = {}
    for matrix in found:
        adapted, whole = elements.get(matrix.kind, (0, 0))
        asked = matrix.kind in ASKED[targets]
        if asked and not matrix.linear:
            inside = matrix.module.split(".")
            last = max(i for i, part in enumerate(inside) if part.isdigit() or i == 0)
            gaps[".".join([*inside[last + 1 :], matrix.name])] = None
        elements[matrix.kind] = (
            adapted + matrix.size * (asked and matrix.linear),
            whole + matrix.size,
        )
    return Coverage(elements, tuple(gaps))


def check(model: str, found: Coverage, targets: str) -> None:
    """Raise Refusal where `targets` asks for weights that take no adapter."""
    if found.gaps and targets != "linear":
        raise Refusal(
            "policy.targets",
            f"{targets} would adapt {found} of this {model}: {', '.join(found.gaps)} "
            "are no linear layers",
            "set it to linear to adapt what can be, or to attention",
        )
    if not any(adapted for adapted, _ in found.elements.values()):
        raise Refusal(
            "policy.targets", f"{targets} adapts nothing of this {model}", "set it to linear"
        )


def shortest_names(adapted: Collection[str], modules: Iterable[str]) -> list[str]:
    """The shortest ends of the adapted modules' paths that are ends of no other module's, sorted:
    PEFT adapts the modules whose path ends with one of its `target_modules`."""
    taken = set(adapted)
    others = [f".{path}" for path in modules if path not in taken]
    names = set()
    for path in adapted:
        parts = path.split(".")
        ends = (".".join(parts[i:]) for i in range(len(parts) - 1, -1, -1))
        names.add(next(e for e in ends if not any(o.endswith(f".{e}") for o in others)))
    return sorted(names)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}"
