"""What looks wrong in a run's metrics, and the likely cause.

Alarms are notes for whoever watches a run or reads a report, the same for both. They stop nothing:
a run that cannot go on says so itself (`diverged`), and leaving out runs that look bad would bias a
comparison.

Thresholds are coarse on purpose: they compare the mean of the last `WINDOW` rows with that of
the first, so that one odd batch raises nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.records import Episode
from swarm.tasks.checkers import CHECKERS
from swarm.tasks.refs import CORRECT_FROM, MIXTURE, code_ref, own_ref
from swarm.train.eval_sets import judged_as
from swarm.train.metric_table import set_of

Row = Mapping[str, Any]  # one line of metrics.jsonl

WINDOW = 5
FLAT_ROWS = 10
ENTROPY_LEFT = 0.1  # of the entropy at the start
UNSOLVED = 0.9  # a policy that earns more may well be certain of its answers
KL_REF = 1.0  # nats a token: the policy finds its text e times likelier than the reference does
LENGTH_FACTOR = 2.0
TRUNCATED = 0.5
MISMATCH_KL = 0.05  # nats a token, between sampler and learner on the same weights

#: A probability moved tenfold, mean over a window of each batch's largest ratio. The bounds that
#: others put on ratios lie below: weights are cut at 2 (verl, slime) or 3 (TRL), verl's dual clip
#: holds at 3 (arXiv:1912.09729), CISPO at 5. What passes 10 is carried by single tokens.
RATIO_MAX = 10.0

#: Share of prompts that fill the model's context and are not asked. The data's own, so that any row
#: tells and no window is needed.
OVERLONG = 0.1
ENOUGH_PROMPTS = 50  # for a share of them to say something of the others

#: Metrics that are finite in every healthy row. Others are NaN where there is nothing to average;
#: the reward too, where nothing was scored, which has an alarm of its own.
FINITE = (
    "loss/policy",
    "loss/kl",
    "optim/grad_norm",
    "policy/entropy",
    "policy/kl_ref",
    "policy/ratio_max",
    "mismatch/kl",
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
    at_the_end = (*_clip_never_binds(rows, config), *_never_right(rows, config)) if ended else ()
    return [
        *_overlong(rows, config.batch.prompts),
        *_nothing_scored(rows),
        *_non_finite(rows, config),
        *_bound_below_mismatch(rows, config),
        *_equal_rewards(rows, ended),
        *_drifts(rows, config),
        *at_the_end,
    ]


def counted(task: TaskSettings) -> str:
    """Which answers of a task count as right, in words."""
    own, beside = own_ref(task.ref), code_ref(task.reward)
    if task.ref == MIXTURE:
        return "the right answers of each source"
    if own is None:
        return f"the right answers of {task.ref}"
    if beside is not None:
        return f"answers with a reward of {CORRECT_FROM:g} or more from {beside.path.name}"
    if task.reward in CHECKERS:
        return CHECKERS[task.reward].counts
    if own.function is None:
        return "answers that equal the row's `answer`, white space around them aside"
    return (
        f"answers that `correct` of {own.path.name} accepts or, without that function, those with "
        f"a reward of {CORRECT_FROM:g} or more"
    )


def _overlong(rows: Sequence[Row], prompts: int) -> Iterator[Alarm]:
    """Prompts fill the model's context, so that nothing was asked. `prompts` are those of a batch:
    a share of a few of them says nothing of the others."""
    shares = _values(rows, "completions/overlong_frac")
    share = math.fsum(shares) / len(shares) if shares else 0.0
    if any(map(_unasked, rows)):
        share = 1.0
    batches = sum("reward/mean" in row["metrics"] for row in rows)  # none in an evaluation
    if share > OVERLONG and (share == 1 or not 0 < batches * prompts < ENOUGH_PROMPTS):
        cause = (
            f"{share:.0%} of the prompts fill the model's context and are not asked: shorten them, "
            "or take a model with a longer context"
        )
        yield Alarm("prompts-overlong", rows[-1]["step"], share, cause)


def _unasked(row: Row) -> bool:
    """Whether an evaluation found every held-out prompt, or every one of a set, to be too long."""
    values = row["metrics"]
    return any(
        math.isnan(values[name]) and math.isnan(values.get(_length_beside(name), 0.0))
        for name in _accuracies(values)
    )


def _accuracies(values: Mapping[str, float]) -> list[str]:
    """`eval/acc` and avg@k of each set, those that a row has."""
    return [name for name in values if name == "eval/acc" or (set_of(name) and "/avg@" in name)]


def _length_beside(accuracy: str) -> str:
    return f"{accuracy.rpartition('/')[0]}/length"


def _nothing_scored(rows: Sequence[Row]) -> Iterator[Alarm]:
    """The first row in which answers were given and none was scored, or judged."""
    for row in rows:
        values = row["metrics"]
        if values.get("completions/overlong_frac", 0.0) == 1 or _unasked(row):
            continue
        for name in ("reward/mean", "eval/acc", "eval/proxy", *_accuracies(values)):
            if math.isnan(values.get(name, 0.0)):
                what = "rollout" if name == "reward/mean" else "held-out answer"
                what = f"answer of set {named}" if (named := set_of(name)) else what
                cause = f"the reward scored no {what} (None for each): there is nothing to go by"
                yield Alarm("nothing-scored", row["step"], math.nan, cause)
                return


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
                if row["step"] == 0:
                    cause = _damaged(name, config)
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
    if kl > KL_REF and algorithm.samples:  # imitation is meant to leave it
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

    ratio = _last(rows, "policy/ratio_max")
    if ratio > RATIO_MAX:
        cause = (
            "single tokens changed their probability tenfold and more within a batch: lower the "
            "learning rate or the number of updates, or bound the ratio from above"
        )
        yield Alarm("ratio-blow-up", step, ratio, cause)

    gap = _last(rows, "mismatch/kl")
    if gap > MISMATCH_KL:
        cause = "sampler and learner do not hold the same weights, or round differently"
        if config.max_staleness:
            cause = f"rollouts are up to {config.max_staleness} versions old"
        yield Alarm("mismatch", step, gap, cause)


def not_finite(episodes: Sequence[Episode], config: TrainConfig) -> list[Alarm]:
    """The alarm of answers to whose tokens the model gives no probability, before any training."""
    logprobs = (value for episode in episodes for value in episode.completion.logprobs)
    broken = next((value for value in logprobs if not math.isfinite(value)), None)
    if broken is None:
        return []
    return [Alarm("non-finite", 0, broken, _damaged("a token's log-probability", config))]


def _damaged(what: str, config: TrainConfig) -> str:
    return (
        f"{what} is not a number before any training: the weights of {config.model.ref} are "
        f"damaged, or overflow in {config.model.dtype}"
    )


def _equal_rewards(rows: Sequence[Row], ended: bool) -> Iterator[Alarm]:
    """All rollouts of the last rows earned the same: none, or a constant. A run that ends earlier
    is judged by the rows it has."""
    rewards, stds = _values(rows, "reward/mean"), _values(rows, "reward/std")
    count = min(FLAT_ROWS, len(rewards)) if ended else FLAT_ROWS
    if not 0 < count <= len(rewards) or any(stds[-count:]):  # NaN is true
        return
    step, reward = rows[-1]["step"], rewards[-1]
    if not any(rewards[-count:]):
        cause = (
            "no rollout earns anything, so there is nothing to learn from: the task is too hard "
            "for this model, the answers' format is wrong, or max_tokens cuts them"
        )
        yield Alarm("reward-flat-at-zero", step, 0.0, cause)
    elif stds and len(set(rewards[-count:])) == 1:
        always = count == len(rewards) or (len(set(rewards)) == 1 and not any(stds))
        if always or reward < UNSOLVED:
            cause = (
                f"every rollout earns {reward:g}, so there is nothing to learn from: the reward "
                "does not tell answers apart"
            )
            yield Alarm("reward-constant", step, reward, cause)


def _never_right(rows: Sequence[Row], config: TrainConfig) -> Iterator[Alarm]:
    """No held-out answer, or none of a set, was right in any evaluation of the run."""
    names = dict.fromkeys(name for row in rows for name in _accuracies(row["metrics"]))
    for name in names:
        found = _values(rows, name)
        if not any(found):
            counts = counted(judged_as(config, name))
            cause = f"no held-out answer was ever right; {name} counts {counts}"
            yield Alarm("accuracy-at-floor", rows[-1]["step"], 0.0, cause)
            return


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
