"""What looks wrong in a run's metrics, and the likely cause.

Alarms are notes for the reader of a report. They stop nothing: a run that cannot go on says so
itself (`diverged`), and leaving out runs that look bad would bias a comparison.

Thresholds are coarse on purpose: they compare the mean of the last `WINDOW` rows with that of
the first, so that one odd batch raises nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
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
    rules = (*DURING, *AT_THE_END) if ended else DURING
    found = (rule(rows, config) for rule in rules)
    return [alarm for alarm in found if alarm is not None]


def non_finite(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """A loss, gradient, ratio or reward that is NaN or infinite."""
    for row in rows:
        for name in FINITE:
            value = row["metrics"].get(name, 0.0)
            if not math.isfinite(value):
                return Alarm(
                    "non-finite",
                    row["step"],
                    value,
                    f"{name} overflowed: learning rate {config.optim.lr:g} is too high for this "
                    "recipe, or a ratio is unbounded",
                )
    return None


def entropy_collapse(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """Entropy fell to a tenth while the reward is still far from its most."""
    start, now = _first(rows, "policy/entropy"), _last(rows, "policy/entropy")
    if now <= ENTROPY_LEFT * start and _last(rows, "reward/mean") < UNSOLVED:
        return Alarm(
            "entropy-collapse",
            rows[-1]["step"],
            now,
            "the policy became certain before it was right: raise clip_high or the entropy "
            "bonus, or lower the learning rate",
        )
    return None


def kl_blow_up(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """The policy left the reference model behind."""
    now = _last(rows, "policy/kl_ref")
    if now > KL_REF:
        held = "this KL coefficient does not hold it" if config.algorithm.kl_coef else "no KL term"
        return Alarm(
            "kl-blow-up",
            rows[-1]["step"],
            now,
            f"the policy left its reference far behind: {held}, at learning rate "
            f"{config.optim.lr:g}",
        )
    return None


def length_explosion(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """Answers doubled in length until most are cut."""
    start, now = _first(rows, "completions/mean_length"), _last(rows, "completions/mean_length")
    if now > LENGTH_FACTOR * start and _last(rows, "completions/truncated_frac") > TRUNCATED:
        return Alarm(
            "length-explosion",
            rows[-1]["step"],
            now,
            "a mean over each sequence's tokens makes long wrong answers cheap"
            if config.algorithm.aggregation == "sequence_mean"
            else "the reward pays for length, or wrong answers grow unpunished",
        )
    return None


def reward_flat_at_zero(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """Nothing was earned for `FLAT_ROWS` batches."""
    rewards = _values(rows, "reward/mean")
    if len(rewards) >= FLAT_ROWS and not any(rewards[-FLAT_ROWS:]):
        return Alarm(
            "reward-flat-at-zero",
            rows[-1]["step"],
            0.0,
            "no rollout earns anything, so there is nothing to learn from: the task is too hard "
            "for this model, the answers' format is wrong, or max_tokens cuts them",
        )
    return None


def mismatch(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """Sampler and learner disagree about the sampled tokens' probabilities."""
    now = _last(rows, "mismatch/kl")
    if now > MISMATCH_KL:
        return Alarm(
            "mismatch",
            rows[-1]["step"],
            now,
            f"rollouts are up to {config.max_staleness} versions old"
            if config.max_staleness
            else "sampler and learner do not hold the same weights, or round differently",
        )
    return None


def clip_never_binds(rows: Sequence[Row], config: TrainConfig) -> Alarm | None:
    """The clip range had no effect in a recipe in which it could have."""
    could = config.algorithm.clip_high is not None and (
        config.batch.updates > 1 or config.max_staleness > 0
    )
    fractions = _values(rows, "policy/clip_frac")
    if could and len(fractions) >= WINDOW and not any(fractions):
        return Alarm(
            "clip-never-binds",
            rows[-1]["step"],
            0.0,
            "no ratio reached the clip range in the whole run: the updates are too small for "
            "the range to matter",
        )
    return None


Rule = Callable[[Sequence[Row], TrainConfig], Alarm | None]

DURING: tuple[Rule, ...] = (
    non_finite,
    entropy_collapse,
    kl_blow_up,
    length_explosion,
    reward_flat_at_zero,
    mismatch,
)
AT_THE_END: tuple[Rule, ...] = (clip_never_binds,)


def _first(rows: Sequence[Row], name: str) -> float:
    return _mean(_values(rows, name)[:WINDOW])


def _last(rows: Sequence[Row], name: str) -> float:
    return _mean(_values(rows, name)[-WINDOW:])


def _mean(values: Sequence[float]) -> float:
    """The mean of a full window, else NaN: every comparison with it is false."""
    return math.fsum(values) / WINDOW if len(values) == WINDOW else math.nan


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [row["metrics"][name] for row in rows if name in row["metrics"]]
