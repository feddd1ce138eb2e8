"""What looks wrong in a run's metrics, and the likely cause.

Alarms are notes for the reader of a report. They stop nothing: a run that cannot go on says so
itself (`diverged`), and leaving out runs that look bad would bias a comparison.

Thresholds are coarse on purpose: they compare the mean of the last `WINDOW` rows with that of
the first, so that one odd batch raises nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm.config.train import TrainConfig

Row = Mapping[str, Any]  # one line of metrics.jsonl

WINDOW = 5
FLAT_ROWS = 10
ENTROPY_LEFT = 0.1  # of the entropy at the start
UNSOLVED = 0.9  # a policy that earns more may well be certain of its answers
KL_REF = 1.0  # nats a token: the policy finds its text e times likelier than the reference does
LENGTH_FACTOR = 2.0
TRUNCATED = 0.5
MISMATCH_KL = 0.05  # nats a token, between sampler and learner on the same weights

#: Metrics that are finite in every healthy row. Others are NaN where there is nothing to average.
FINITE = (
    "loss/policy",
    "loss/kl",
    "optim/grad_norm",
    "policy/entropy",
    "policy/kl_ref",
    "policy/ratio_max",
    "mismatch/kl",
    "reward/mean",
)


@dataclass(frozen=True)
class Alarm:
    """`kind` is raised at most once a run; `value` is what the rule saw at `step`."""

    kind: str
    step: int
    value: float
    cause: str


def alarms(rows: Sequence[Row], config: TrainConfig, *, ended: bool = False) -> list[Alarm]:
    """What is wrong with a run so far. `rows` are all its rows; `ended` adds what only the whole
    run can tell."""
    if not rows:
        return []
    at_the_end = _clip_never_binds(rows, config) if ended else ()
    return [
        *_non_finite(rows, config),
        *_bound_below_mismatch(rows, config),
        *_drifts(rows, config),
        *at_the_end,
    ]


def _non_finite(rows: Sequence[Row], config: TrainConfig) -> Iterator[Alarm]:
    """The first loss, gradient, ratio or reward that is NaN or infinite."""
    for row in rows:
        for name in FINITE:
            value = row["metrics"].get(name, 0.0)
            if not math.isfinite(value):
                cause = (
                    f"{name} overflowed: learning rate {config.optim.lr:g} is too high for this "
                    "recipe, or a ratio is unbounded"
                )
                yield Alarm("non-finite", row["step"], value, cause)
                return


def _bound_below_mismatch(rows: Sequence[Row], config: TrainConfig) -> Iterator[Alarm]:
    """A bound on the ratio to the sampler that is narrower than what rounding alone puts between
    the two: the spread at the first batch, which the weights it was sampled from train on."""
    names = {"token": "mismatch/log_ratio_rms", "sequence": "mismatch/sequence_log_ratio_rms"}
    for row in rows:
        if names["token"] not in row["metrics"]:
            continue
        for where, level, bound in config.algorithm.bounds_on_the_sampler():
            spread = row["metrics"].get(names[level], 0.0)
            if spread > bound:
                cause = (
                    f"{where} hold the log-ratio of a {level} to the sampler within {bound:.2g}, "
                    f"and rounding alone spreads it by {spread:.2g}: take algorithm.anchor "
                    "'batch_start', a wider range, or model.dtype float32"
                )
                yield Alarm("bound-below-mismatch", row["step"], spread, cause)
                return
        return


def _drifts(rows: Sequence[Row], config: TrainConfig) -> Iterator[Alarm]:
    """What the last rows show, some of it against the first."""
    step, algorithm = rows[-1]["step"], config.algorithm

    entropy = _last(rows, "policy/entropy")
    certain = entropy <= ENTROPY_LEFT * _first(rows, "policy/entropy")
    if certain and _last(rows, "reward/mean") < UNSOLVED:
        cause = (
            "the policy became certain before it was right: raise clip_high or the entropy "
            "bonus, or lower the learning rate"
        )
        yield Alarm("entropy-collapse", step, entropy, cause)

    kl = _last(rows, "policy/kl_ref")
    if kl > KL_REF:
        held = "this KL coefficient does not hold it" if algorithm.kl_coef else "no KL term"
        cause = (
            f"the policy left its reference far behind: {held}, at learning rate "
            f"{config.optim.lr:g}"
        )
        yield Alarm("kl-blow-up", step, kl, cause)

    length = _last(rows, "completions/mean_length")
    longer = length > LENGTH_FACTOR * _first(rows, "completions/mean_length")
    if longer and _last(rows, "completions/truncated_frac") > TRUNCATED:
        cause = "the reward pays for length, or wrong answers grow unpunished"
        if algorithm.aggregation == "sequence_mean":
            cause = "a mean over each sequence's tokens makes long wrong answers cheap"
        yield Alarm("length-explosion", step, length, cause)

    rewards = _values(rows, "reward/mean")
    if len(rewards) >= FLAT_ROWS and not any(rewards[-FLAT_ROWS:]):
        cause = (
            "no rollout earns anything, so there is nothing to learn from: the task is too hard "
            "for this model, the answers' format is wrong, or max_tokens cuts them"
        )
        yield Alarm("reward-flat-at-zero", step, 0.0, cause)

    gap = _last(rows, "mismatch/kl")
    if gap > MISMATCH_KL:
        cause = "sampler and learner do not hold the same weights, or round differently"
        if config.max_staleness:
            cause = f"rollouts are up to {config.max_staleness} versions old"
        yield Alarm("mismatch", step, gap, cause)


def _clip_never_binds(rows: Sequence[Row], config: TrainConfig) -> Iterator[Alarm]:
    """The clip range had no effect in a recipe in which it could have."""
    could = config.algorithm.clip_high is not None and (
        config.batch.updates > 1 or config.max_staleness > 0
    )
    fractions = _values(rows, "policy/clip_frac")
    if could and len(fractions) >= WINDOW and not any(fractions):
        cause = (
            "no ratio reached the clip range in the whole run: the updates are too small for "
            "the range to matter"
        )
        yield Alarm("clip-never-binds", rows[-1]["step"], 0.0, cause)


def _first(rows: Sequence[Row], name: str) -> float:
    return _mean(_values(rows, name)[:WINDOW])


def _last(rows: Sequence[Row], name: str) -> float:
    return _mean(_values(rows, name)[-WINDOW:])


def _mean(values: Sequence[float]) -> float:
    """The mean of a full window, else NaN: every comparison with it is false."""
    return math.fsum(values) / WINDOW if len(values) == WINDOW else math.nan


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [row["metrics"][name] for row in rows if name in row["metrics"]]
