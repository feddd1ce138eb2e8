"""From rewards to per-token advantages, and from a reduction's name to per-token weights. Pure
numpy over groups of episodes. An episode without a reward joins neither a baseline nor the loss.
Whether rewards are equal is tested before any division, so fp32 residue is never amplified."""

from collections.abc import Sequence

import numpy as np

from swarm.config.algorithm import AlgorithmSettings
from swarm.records import FloatArray, RealArray

#: Rewards closer than this are equal.
TOLERANCE = 1e-6
#: Added to a standard deviation before dividing, as in TRL (grpo_trainer.py).
STD_EPSILON = 1e-4


def penalised(
    rewards: Sequence[float | None], kl_sums: Sequence[float], coefficient: float
) -> list[float | None]:
    """Rewards less `coefficient` x the episode's summed k1 = log(pi/ref)."""
    return [
        None if r is None else r - coefficient * k for r, k in zip(rewards, kl_sums, strict=True)
    ]


def overlong_penalties(lengths: Sequence[int], budget: int, buffer: float) -> list[float]:
    """In [0, 1] for each length: the share of the budget's last `buffer` tokens that it uses (Yu et
    al. 2025, arXiv:2503.14476, eq. 13, of which this is the negative)."""
    return [min(max(n - (budget - buffer), 0.0) / buffer, 1.0) for n in lengths]


def episode_advantages(
    groups: Sequence[Sequence[float | None]], settings: AlgorithmSettings
) -> list[list[float | None]]:
    """(reward - baseline) / scale for each episode of each group; None stays None.

    Baselines: the group's mean, the mean of the group's other episodes (0 if there are none),
    the batch's mean, or nothing. Scales: the group's or the batch's sample std (Bessel), the
    group's mean (a group whose mean is not above 0 then has advantage 0), or 1.
    A group, or a batch, of equal rewards has advantage 0 wherever its own mean is the baseline.
    """
    everything = np.array([r for group in groups for r in group if r is not None], np.float64)
    return [_group_advantages(group, everything, settings) for group in groups]


def token_returns_advantages(
    returns: Sequence[RealArray | None], settings: AlgorithmSettings
) -> list[FloatArray | None]:
    """Whiten per-token returns (REINFORCE++) or advantages (PPO) over all tokens of the batch.

    `returns[i]` is [T_i], over the trained tokens of episode i, of which there may be none. A batch
    baseline subtracts their mean, and so does a value baseline where it is scaled by the batch's
    std. Only what is found is rounded to fp32.
    """
    known = [r for r in returns if r is not None and len(r)]
    if not known:
        return [None if r is None else r.astype(np.float32) for r in returns]
    everything = np.concatenate(known).astype(np.float64)
    value = settings.baseline == "value" and settings.scale == "batch_std"
    centred = settings.baseline == "batch" or value
    if centred and _equal(everything):
        return [None if r is None else np.zeros(len(r), np.float32) for r in returns]
    mean = everything.mean() if centred else 0.0
    std = _std(everything) if settings.scale == "batch_std" else 1.0
    return [None if r is None else ((r - mean) / std).astype(np.float32) for r in returns]


def token_weights(
    lengths: Sequence[Sequence[int]], aggregation: str, max_tokens: int
) -> list[list[float]]:
    """The loss weight of each token of each episode, per group.

    token_mean: 1 / (trained tokens of the optimizer batch). sequence_mean: 1 / (episodes x own
    length). fixed_length: 1 / (episodes x max_tokens). Episodes of length 0, which train nothing,
    are in no denominator (as in verl's `agg_loss`), whether they were scored or not.
    """
    flat = [n for group in lengths for n in group if n > 0]
    episodes, tokens = len(flat), sum(flat)

    def weight(n: int) -> float:
        if aggregation == "token_mean":
            return 1 / tokens
        return 1 / (episodes * (n if aggregation == "sequence_mean" else max_tokens))

    return [[weight(n) if n > 0 else 0.0 for n in group] for group in lengths]


def _group_advantages(
    group: Sequence[float | None], everything: np.ndarray, settings: AlgorithmSettings
) -> list[float | None]:
    known = np.array([r for r in group if r is not None], np.float64)
    if not len(known):
        return [None] * len(group)
    scale = {
        "none": 1.0,
        "group_std": _std(known),
        "batch_std": _std(everything),
        "group_mean": float(known.mean()),
    }[settings.scale]
    if settings.scale == "group_mean" and scale <= TOLERANCE:
        return [None if r is None else 0.0 for r in group]

    def advantage(reward: float) -> float:
        n = len(known)
        if settings.baseline == "group":
            centred = 0.0 if _equal(known) else reward - known.mean()
        elif settings.baseline == "leave_one_out":
            others = (known.sum() - reward) / (n - 1) if n > 1 else 0.0
            centred = 0.0 if n > 1 and _equal(known) else reward - others
        elif settings.baseline == "batch":
            centred = 0.0 if _equal(everything) else reward - everything.mean()
        else:
            centred = reward
        return float(centred / scale)

    return [None if r is None else advantage(r) for r in group]


def _equal(rewards: np.ndarray) -> bool:
    return float(rewards.max() - rewards.min()) <= TOLERANCE


def _std(rewards: np.ndarray) -> float:
    """Sample std plus epsilon; 1 where it is not defined or zero: what is centred is then 0."""
    if len(rewards) < 2 or _equal(rewards):
        return 1.0
    return float(rewards.std(ddof=1)) + STD_EPSILON
