"""What an optimizer update takes besides its trees, and what it reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swarm.records import FloatArray


@dataclass(frozen=True)
class UpdateMetrics:
    """What one update saw over its `tokens` trained tokens: the figures of its loss by name
    (`swarm.learn.loss.Loss`), the gradient's norm before clipping, the learning rate."""

    tokens: int
    sums: Mapping[str, float]
    maxima: Mapping[str, float]
    grad_norm: float
    lr: float


@dataclass(frozen=True)
class PerTreeArrays:
    """Per tree, arrays over its trained tokens that a loss needs and a tree does not hold:
    log-probabilities of the reference and of the policy at the start of the batch, and for a value
    head its old values and the returns it is trained towards."""

    reference: Sequence[FloatArray] | None = None
    anchor: Sequence[FloatArray] | None = None
    values: Sequence[FloatArray] | None = None
    returns: Sequence[FloatArray] | None = None

    def part(self, indices: Sequence[int]) -> "PerTreeArrays":
        """The arrays of the trees at `indices`."""
        arrays = (self.reference, self.anchor, self.values, self.returns)
        return PerTreeArrays(*(None if a is None else [a[i] for i in indices] for a in arrays))
