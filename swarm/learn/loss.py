"""The one loss kernel: a sum over trained tokens of weight x component. Reductions live in the
weights, which are fixed over the whole optimizer batch before it is cut into micro-batches; so
micro-batch size, packing and order cannot change the maths."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.corrections import correction
from swarm.learn.ratios import log_ratio as bounded_log_ratio
from swarm.learn.ratios import sequence_mean


@dataclass(frozen=True)
class Loss:
    """`total` is what is differentiated. `sums` and `maxima` are detached figures by name over the
    tokens (or pairs) given: the learner adds and maximises them over micro-batches, and
    `swarm.train.metric_table` says which metric is read from which. All are scalars."""

    total: Tensor
    sums: Mapping[str, Tensor]
    maxima: Mapping[str, Tensor] = field(default_factory=dict)

    def __add__(self, other: "Loss") -> "Loss":
        """Both losses; they share no figure's name."""
        sums, maxima = {**self.sums, **other.sums}, {**self.maxima, **other.maxima}
        return Loss(self.total + other.total, sums, maxima)


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
) -> Loss:
    """Policy gradient with KL and entropy terms. All tensors are [M], fp32; `sequences` are ids.

    Policy term by `objective`, rho = exp(logpi - log of the anchor): `clip` is
    -min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A) (Schulman et al. 2017, arXiv:1707.06347,
    eq. 7) or, without bounds, -rho A; `truncated` is -sg(clip(rho)) A logpi (arXiv:2506.13585);
    `likelihood` is -A logpi. It is then corrected (`swarm.learn.corrections`).

    KL term, by the divergence whose gradient it has: `reverse`, pi/mu x k3 with the ratio attached,
    gives KL(pi || ref), on- and off-policy; `forward`, k3 alone, gives KL(ref || pi)
    on-policy. k3 = ref/pi - log(ref/pi) - 1 (Schulman 2020, "Approximating KL divergence").

    Figures of what was sampled: `clipped_*` count ratios that their bound holds (for `truncated`
    weights: that lie outside), `masked` tokens that a correction drops, `outside` tokens outside
    the clip range or the correction's bounds, whatever that does to them; `mismatch` is k3 of pi
    against the sampler mu, `gap` is |log pi - log mu|, `gap_squares` its square and
    `sequence_squares` that of its mean over a token's sequence (where a bound is one of sequences),
    `behaviour` the ratio pi_old / mu.
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
    outside = torch.zeros_like(low)
    if settings.clip_low is not None and settings.clip_high is not None:
        outside = (ratio < 1 - settings.clip_low) | (ratio > 1 + settings.clip_high)
    fix = correction(
        settings.correction, logprobs, sampler_logprobs, advantages, anchor_logprobs, sequences
    )
    masked = torch.zeros_like(low.sum())
    if fix is not None:
        surrogate, masked = fix.apply(surrogate), (~fix.keep).sum()
        outside = outside | fix.outside
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
    sums = {"policy": policy.detach(), "entropy": entropy.detach().sum()}
    if not settings.samples:
        return Loss(total, sums)
    back = -log_ratio.detach()
    gap = (logprobs.detach() - sampler_logprobs).abs()
    behaviour = (-back).exp()
    if anchor_logprobs is not None:
        behaviour = bounded_log_ratio(anchor_logprobs, sampler_logprobs).exp()
    sums |= {
        "kl": kl.detach(),
        "clipped": (low | high).sum(),
        "clipped_low": low.sum(),
        "clipped_high": high.sum(),
        "masked": masked,
        "outside": outside.sum(),
        "mismatch": (back.exp() - back - 1).sum(),
        "gap": gap.sum(),
        "gap_squares": gap.square().sum(),
        "behaviour": behaviour.double().sum(),
        "behaviour_squares": behaviour.double().square().sum(),
    }
    if sequences is not None:
        sums["sequence_squares"] = sequence_mean(back, sequences).square().sum()
    return Loss(total, sums, {"ratio": ratio.detach().max(), "gap": gap.max()})


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
