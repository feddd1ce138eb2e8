"""Alarms of what moves over a run: rewards, entropy, lengths, ratios, the distance to others.

Thresholds are coarse on purpose: they compare the mean of the last `WINDOW` values with that of the
first, so that one odd batch raises nothing that a whole window would not. None is a figure on the
scale of a reward, which is the user's: see `Curves.solved`.
"""

import math
from collections.abc import Iterator

from swarm.config.train import TrainConfig
from swarm.train.curves import RIGHT, Alarm, Curves

FLAT_ROWS = 10
ENTROPY_LEFT = 0.1  # of the entropy at the start
KL_REF = 1.0  # nats a token: the policy finds its text e times likelier than the reference does
LENGTH_FACTOR = 2.0
TRUNCATED = 0.5
MISMATCH_KL = 0.05  # nats a token, between sampler and learner on the same weights

#: A probability moved tenfold, mean over a window of each batch's largest ratio. The bounds that
#: others put on ratios lie below: weights are cut at 2 (verl, slime) or 3 (TRL), verl's dual clip
#: holds at 3 (arXiv:1912.09729), CISPO at 5. What passes 10 is carried by single tokens.
RATIO_MAX = 10.0


def drifts(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """What is wrong as of the last row."""
    yield from _equal_rewards(curves)
    yield from _certain(curves)
    yield from _far_from_the_reference(curves, config)
    yield from _longer(curves, config)
    yield from _ratios(curves, config)
    yield from _mismatch(curves, config)


def _equal_rewards(curves: Curves) -> Iterator[Alarm]:
    """All rollouts of the last rows earned the same, and not because the task is solved: none ever
    earned anything else, or what they earn is not the best. A run that ends earlier is judged by
    the rows it has."""
    rewards, stds = curves.values("reward/mean"), curves.values("reward/std")
    count = min(FLAT_ROWS, len(rewards)) if curves.ended else FLAT_ROWS
    if not 0 < count <= len(rewards) or any(stds[-count:]):  # NaN is true
        return
    reward, (lowest, highest) = rewards[-1], curves.rewards()
    right = (curves.values("eval/acc") or [0.0])[-1] >= RIGHT
    always = lowest == highest and not any(stds)
    if any(value != reward for value in rewards[-count:]) or (curves.solved() and not always):
        return
    if reward == lowest == 0 and not right:
        cause = (
            "no rollout earns anything, so there is nothing to learn from: the task is too hard "
            "for this model, the answers' format is wrong, max_tokens cuts them, or 0 is the best "
            "that can be earned"
        )
        yield Alarm("reward-flat-at-zero", curves.step, reward, cause)
    elif stds:
        why = "the reward does not tell answers apart"
        if right and always:
            why = "the model solves the task as it is, or the reward does not tell answers apart"
        elif always:
            why += ", or all of them are equally good or bad"
        cause = f"every rollout earns {reward:g}, so there is nothing to learn from: {why}"
        yield Alarm("reward-constant", curves.step, reward, cause)


def _certain(curves: Curves) -> Iterator[Alarm]:
    entropy = curves.last("policy/entropy")
    certain = entropy <= ENTROPY_LEFT * curves.first("policy/entropy")
    if certain and curves.values("reward/mean") and not curves.solved():
        cause = (
            "the policy became certain before it was right: raise clip_high or the entropy "
            "bonus, or lower the learning rate"
        )
        yield Alarm("entropy-collapse", curves.step, entropy, cause)


def _far_from_the_reference(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """A policy that solves its task is meant to have left, and so is one that imitates."""
    kl = curves.over("policy/kl_ref", KL_REF)
    if kl is None or not config.algorithm.samples or curves.solved():
        return
    held = "this KL coefficient does not hold it" if config.algorithm.kl_coef else "no KL term"
    cause = (
        f"the policy left its reference far behind without solving its task: {held}, at learning "
        f"rate {config.optim.lr:g}"
    )
    yield Alarm("kl-blow-up", curves.step, kl, cause)


def _longer(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    length = curves.last("completions/mean_length")
    longer = length > LENGTH_FACTOR * curves.first("completions/mean_length")
    if longer and curves.last("completions/truncated_frac") > TRUNCATED:
        cause = "the reward pays for length, or wrong answers grow unpunished"
        if config.algorithm.aggregation == "sequence_mean":
            cause = "a mean over each sequence's tokens makes long wrong answers cheap"
        yield Alarm("length-explosion", curves.step, length, cause)


def _ratios(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    ratio = curves.over("policy/ratio_max", RATIO_MAX)
    if ratio is None:
        return
    cause = (
        "single tokens changed their probability tenfold and more within a batch: lower the "
        "learning rate or the number of updates, or bound the ratio from above"
    )
    if config.batch.updates == 1 and not config.max_staleness:
        cause = (
            "sampler and learner give single tokens probabilities that differ tenfold and more "
            "before any update: take model.dtype float32, or bound the ratio from above"
        )
    yield Alarm("ratio-blow-up", curves.step, ratio, cause)


def _mismatch(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """The first batch alone tells: what trains on it are the weights that sampled it."""
    gaps = curves.values("mismatch/kl")
    gap = curves.over("mismatch/kl", MISMATCH_KL)
    if len(gaps) == 1 and MISMATCH_KL < gaps[0] < math.inf:
        gap = gaps[0]
    if gap is None:
        return
    cause = "sampler and learner do not hold the same weights, or round differently"
    if config.max_staleness and len(gaps) > 1:
        cause = f"rollouts are up to {config.max_staleness} versions old"
    yield Alarm("mismatch", curves.step, gap, cause)
