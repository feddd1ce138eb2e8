"""The one loss kernel: a sum over trained tokens of weight x component.

Reductions live in the weights, which are fixed over the whole optimizer batch before it is cut
into micro-batches; so micro-batch size, packing and order cannot change the maths.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.config import AlgorithmSettings

#: log-ratios are clamped to this before exp, so that no ratio overflows fp32.
MAX_LOG_RATIO = 20.0


@dataclass(frozen=True)
class LossParts:
    """`total` is what is differentiated; the rest are detached sums over tokens, for metrics."""

    total: Tensor
    policy: Tensor
    kl: Tensor
    clipped_low: Tensor
    clipped_high: Tensor
    max_ratio: Tensor
    mismatch: Tensor


def policy_loss(
    logprobs: Tensor,
    entropy: Tensor,
    sampler_logprobs: Tensor,
    advantages: Tensor,
    weights: Tensor,
    reference_logprobs: Tensor | None,
    settings: AlgorithmSettings,
) -> LossParts:
    """Clipped policy gradient with KL and entropy terms. All tensors are [M], fp32.

    Policy term: -min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A), rho = exp(logpi - logmu)
    (Schulman et al. 2017, arXiv:1707.06347, eq. 7); without clip bounds, -rho A.
    KL term, by the divergence whose gradient it has: `reverse`, rho x k3 with rho attached,
    gives KL(pi || ref), on- and off-policy; `forward`, k3 alone, gives KL(ref || pi)
    on-policy. k3 = ref/pi - log(ref/pi) - 1 (Schulman 2020, "Approximating KL divergence").
    """
    log_ratio = (logprobs - sampler_logprobs).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    ratio = log_ratio.exp()
    surrogate = ratio * advantages
    low = torch.zeros_like(ratio, dtype=torch.bool)
    high = torch.zeros_like(ratio, dtype=torch.bool)
    if settings.clip_low is not None and settings.clip_high is not None:
        clipped = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high) * advantages
        low = (ratio < 1 - settings.clip_low) & (advantages < 0)
        high = (ratio > 1 + settings.clip_high) & (advantages > 0)
        surrogate = torch.minimum(surrogate, clipped)
    policy = -(weights * surrogate).sum()
    kl = torch.zeros_like(policy)
    if reference_logprobs is not None:
        toward = (reference_logprobs - logprobs).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
        k3 = toward.exp() - toward - 1
        kl = (weights * (ratio * k3 if settings.kl == "reverse" else k3)).sum()
    coefficient = settings.kl_coef if settings.kl_placement == "loss" else 0.0
    total = policy + coefficient * kl
    if settings.entropy_coef:
        total = total - settings.entropy_coef * (weights * entropy).sum()
    back = -log_ratio.detach()
    return LossParts(
        total=total,
        policy=policy.detach(),
        kl=kl.detach(),
        clipped_low=low.sum(),
        clipped_high=high.sum(),
        max_ratio=ratio.detach().max(),
        mismatch=(back.exp() - back - 1).sum(),
    )


def supervised_loss(logprobs: Tensor, weights: Tensor) -> Tensor:
    """Cross-entropy: -sum of weight x log pi."""
    return -(weights * logprobs).sum()
