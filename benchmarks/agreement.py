"""Whether two trainers compute one gradient."""

from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.policy.policy import Policy


@dataclass(frozen=True)
class Agreement:
    """Of two gradients: their cosine, and the norm of their difference over the second's norm."""

    cosine: float
    relative_error: float


def agreement(ours: Tensor, theirs: Tensor) -> Agreement:
    """In fp64, so that the comparison adds no rounding. Raises RuntimeError on unequal lengths."""
    a, b = ours.double(), theirs.double()
    return Agreement(
        float(a @ b / (a.norm() * b.norm())),
        float((a - b).norm() / b.norm()),
    )


def our_gradient(policy: Policy) -> Tensor:
    """A LoRA policy's gradient as one vector, layers in order of their path, A before B."""
    pairs = [policy.pairs[path] for path in sorted(policy.pairs)]
    tensors = [p for pair in pairs for p in (pair.a, pair.b)]
    return torch.cat([p.grad.float().flatten() for p in tensors if p.grad is not None])
