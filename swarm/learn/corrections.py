"""Corrections for the gap between what sampled a token and what trains it.

Rollouts come from the sampler mu. The learner's log-probabilities differ by rounding, kernels and
precision, and, with staleness or several updates a batch, by weights. The plain loss takes its
ratio against mu itself (`anchor: sampler`) and so corrects fully. With `anchor: batch_start` the
ratio is against pi_old, the learner's own log-probabilities at the start of the batch; the rest is

    w_t = pi_old(t) / mu(t)        (pi(t) / mu(t) where the anchor is the sampler: for masks)

A token's policy term is multiplied by, with the default bounds:

    tis            w within [low, high] by clamping; 0, 2. Yao et al. 2025, "Your efficient RL
                   framework secretly brings you off-policy RL training"
    icepop         w, and 0 outside [low, high]; 0.5, 5. Ring-1T, arXiv:2510.18855
    token_mask     1, and 0 where w is outside [low, high]; 0.5, 2. Liu et al. 2025, "When speed
                   kills stability"
    sequence_mask  1, and 0 where exp(mean of log w over the sequence) is outside [low, high];
                   0.99, 1.01, where SkyRL advises to start. The same source
    decoupled      w, and 0 above high; 5. AReaL, arXiv:2505.24298, with the cap of its recipes
    dppo           1, and 0 where A > 0 and pi - mu > high, or A <= 0 and pi - mu < -low; 0.2, 0.2.
                   Qi et al. 2026, arXiv:2602.04879

Factors carry no gradient. A masked token stays in the loss's denominator, so that masking some
never inflates the others. log w is clamped to +-20.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.config.algorithm import CorrectionSettings
from swarm.learn.ratios import log_ratio, sequence_mean


@dataclass(frozen=True)
class Correction:
    """A token's policy term is multiplied by `weight` where `keep` and is 0 elsewhere; `outside` is
    where a bound acts. [M] each."""

    weight: Tensor
    keep: Tensor
    outside: Tensor

    def apply(self, surrogate: Tensor) -> Tensor:
        """The corrected terms. What is dropped is selected away, never multiplied by 0: 0 x inf is
        NaN, in the value and in the gradient."""
        return torch.where(self.keep, surrogate * self.weight, torch.zeros_like(surrogate))


def correction(
    settings: CorrectionSettings,
    logprobs: Tensor,
    sampler_logprobs: Tensor,
    advantages: Tensor,
    anchor_logprobs: Tensor | None = None,
    sequences: Tensor | None = None,
) -> Correction | None:
    """What `settings` make of each token; None for kind `none`. All tensors are [M].
    `anchor_logprobs` are pi_old's, `sequences` the ids of `swarm.learn.ratios.sequence_ids`, which
    `sequence_mask` needs."""
    if settings.kind == "none":
        return None
    low, high = settings.bounds
    current = logprobs.detach()
    log_w = log_ratio(current if anchor_logprobs is None else anchor_logprobs, sampler_logprobs)
    w, ones = log_w.exp(), torch.ones_like(log_w)
    match settings.kind:
        case "tis":
            return Correction(w.clamp(low, high), ones.bool(), ~_within(w, low, high))
        case "icepop" | "decoupled":
            return _masked(w, _within(w, low, high))
        case "token_mask":
            return _masked(ones, _within(w, low, high))
        case "sequence_mask":
            assert sequences is not None
            return _masked(ones, _within(sequence_mean(log_w, sequences).exp(), low, high))
        case "dppo":
            moved = current.exp() - sampler_logprobs.exp()
            gone = torch.where(advantages > 0, moved > high, moved < -low)
            return _masked(ones, ~gone)


def _masked(weight: Tensor, keep: Tensor) -> Correction:
    return Correction(weight, keep, ~keep)


def _within(values: Tensor, low: float, high: float) -> Tensor:
    return (values >= low) & (values <= high)
