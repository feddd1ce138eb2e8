"""What an optimizer update takes beside its trees, and what it reports."""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm.records import FloatArray


@dataclass(frozen=True)
class UpdateMetrics:
    """What one update saw; sums are over `tokens` trained tokens, `margin_sum` and `wins` over
    `pairs` (preference objective). `gap_*` are of |log pi - log mu|."""

    tokens: int
    policy_loss: float
    kl_sum: float
    entropy_sum: float
    clipped_low: int
    clipped_high: int
    max_ratio: float
    mismatch_sum: float
    grad_norm: float
    lr: float
    masked: int = 0
    behaviour_sum: float = 0.0
    behaviour_squares: float = 0.0
    value_loss: float = 0.0
    pairs: int = 0
    margin_sum: float = 0.0
    wins: int = 0
    gap_sum: float = 0.0
    max_gap: float = 0.0


@dataclass(frozen=True)
class Beside:
    """Per tree, arrays over its trained tokens that a loss needs and a tree does not hold:
    log-probabilities of the reference and of the policy at the start of the batch, and for a value
    head its old values and the returns it is trained towards."""

    reference: Sequence[FloatArray] | None = None
    anchor: Sequence[FloatArray] | None = None
    values: Sequence[FloatArray] | None = None
    returns: Sequence[FloatArray] | None = None

    def part(self, indices: Sequence[int]) -> "Beside":
        """The arrays of the trees at `indices`."""
        arrays = (self.reference, self.anchor, self.values, self.returns)
        return Beside(*(None if a is None else [a[i] for i in indices] for a in arrays))
