"""The one loss kernel: a sum over trained tokens of weight x component.

Reductions live in the weights, which are fixed over the whole optimizer batch before it is cut
into micro-batches; so micro-batch size, packing and order cannot change the maths.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.corrections import correction
from swarm.learn.ratios import MAX_LOG_RATIO as MAX_LOG_RATIO
from swarm.learn.ratios import log_ratio as bounded_log_ratio
from swarm.learn.ratios import sequence_mean


@dataclass(frozen=True)
class LossParts:
    """`total` is what is differentiated; the rest are detached sums over tokens, for metrics.

    `clipped_*` count ratios that their bound holds (for `truncated` weights: that lie outside),
    `masked` tokens that a correction drops. `mismatch` sums k3 of pi against the sampler, `gap`
    the size of their log-probabilities' difference, `max_gap` being the largest; `behaviour` and
    `behaviour_squares` sum the ratio pi_old / mu: their effective sample size.
    """

    total: Tensor
    policy: Tensor
    kl: Tensor
    clipped_low: Tensor
    clipped_high: Tensor
    max_ratio: Tensor
    mismatch: Tensor
    gap: Tensor
    max_gap: Tensor
    masked: Tensor
    behaviour: Tensor
    behaviour_squares: Tensor


def policy_loss(
    logprobs: Tensor,
    entropy: Tensor,
    sampler_logprobs: Tensor,
    advantages: Tensor,
    weights: Tensor,
    reference_logprobs: Tensor | None,
    settings: AlgorithmSettings,
    *,
    anchor_logprobs: Tensor | None = None,
    sequences: Tensor | None = None,
) -> LossParts:
    """Policy gradient with KL and entropy terms. All tensors are [M], fp32; `sequences` are ids.

    Policy term by `objective`, rho = exp(logpi - log of the anchor): `clip` is
    -min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A) (Schulman et al. 2017, arXiv:1707.06347,
    eq. 7) or, without bounds, -rho A; `truncated` is -sg(clip(rho)) A logpi (arXiv:2506.13585);
    `likelihood` is -A logpi. It is then corrected (`swarm.learn.corrections`).

    KL term, by the divergence whose gradient it has: `reverse`, pi/mu x k3 with the ratio attached,
    gives KL(pi || ref), on- and off-policy; `forward`, k3 alone, gives KL(ref || pi)
    on-policy. k3 = ref/pi - log(ref/pi) - 1 (Schulman 2020, "Approximating KL divergence").
    """
    log_ratio = bounded_log_ratio(logprobs, sampler_logprobs)
    stepped = log_ratio
    if anchor_logprobs is not None:
        stepped = bounded_log_ratio(logprobs, anchor_logprobs)
    token_log_ratio = stepped
    if settings.ratio == "sequence":
        assert sequences is not None
        mean = sequence_mean(stepped.detach(), sequences)
        stepped = mean + (logprobs - logprobs.detach())
    ratio = stepped.exp()
    surrogate, low, high = _surrogate(ratio, logprobs, advantages, settings)
    fix = correction(
        settings.correction, logprobs, sampler_logprobs, advantages, anchor_logprobs, sequences
    )
    masked = torch.zeros_like(low.sum())
    if fix is not None:
        surrogate, masked = fix.apply(surrogate), (~fix.keep).sum()
    policy = -(weights * surrogate).sum()
    kl = torch.zeros_like(policy)
    if reference_logprobs is not None:
        toward = bounded_log_ratio(reference_logprobs, logprobs)
        k3 = toward.exp() - toward - 1
        sampler_ratio = ratio if stepped is log_ratio else log_ratio.exp()
        kl = (weights * (sampler_ratio * k3 if settings.kl == "reverse" else k3)).sum()
    coefficient = settings.kl_coef if settings.kl_placement == "loss" else 0.0
    total = policy + coefficient * kl
    if settings.entropy_coef:
        total = total - settings.entropy_coef * (weights * entropy).sum()
    if settings.log_ratio_coef:
        total = total + settings.log_ratio_coef * (weights * token_log_ratio.square()).sum()
    back = -log_ratio.detach()
    gap = (logprobs.detach() - sampler_logprobs).abs()
    behaviour = (-back).exp()
    if anchor_logprobs is not None:
        behaviour = bounded_log_ratio(anchor_logprobs, sampler_logprobs).exp()
    return LossParts(
        total=total,
        policy=policy.detach(),
        kl=kl.detach(),
        clipped_low=low.sum(),
        clipped_high=high.sum(),
        max_ratio=ratio.detach().max(),
        mismatch=(back.exp() - back - 1).sum(),
        gap=gap.sum(),
        max_gap=gap.max(),
        masked=masked,
        behaviour=behaviour.double().sum(),
        behaviour_squares=behaviour.double().square().sum(),
    )


def _surrogate(
    ratio: Tensor, logprobs: Tensor, advantages: Tensor, settings: AlgorithmSettings
) -> tuple[Tensor, Tensor, Tensor]:
    """What is maximised of each token, and whether its ratio is held below or above; [M] each."""
    nowhere = torch.zeros_like(ratio, dtype=torch.bool)
    if settings.objective == "likelihood":
        return logprobs * advantages, nowhere, nowhere
    surrogate = ratio * advantages
    if settings.clip_low is None or settings.clip_high is None:
        return surrogate, nowhere, nowhere
    least, most = 1 - settings.clip_low, 1 + settings.clip_high
    clipped = ratio.clamp(least, most)
    if settings.objective == "truncated":
        return clipped.detach() * advantages * logprobs, ratio < least, ratio > most
    low = (ratio < least) & (advantages < 0)
    high = (ratio > most) & (advantages > 0)
    return torch.minimum(surrogate, clipped * advantages), low, high


def supervised_loss(logprobs: Tensor, weights: Tensor) -> Tensor:
    """Cross-entropy: -sum of weight x log pi."""
    return -(weights * logprobs).sum()
