"""What looks wrong in a run's metrics, and the likely cause.

Alarms are notes for whoever watches a run or reads a report, the same for both. They stop nothing:
a run that cannot go on says so itself (`diverged`), and leaving out runs that look bad would bias a
comparison. Rules are asked at every row, so what a run raises does not depend on when it is looked
at. Here are those of the data and of figures that are not finite; see also `drifts` and
`clip_ranges`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.records import Episode
from swarm.tasks.checkers import CHECKERS
from swarm.tasks.refs import CORRECT_FROM, MIXTURE, code_ref, own_ref
from swarm.train.clip_ranges import bound_below_mismatch, clip_never_binds
from swarm.train.curves import Alarm, Curves, Row
from swarm.train.drifts import drifts
from swarm.train.eval_sets import judged_as
from swarm.train.metric_table import set_of

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


def alarms(rows: Sequence[Row], config: TrainConfig, *, ended: bool = False) -> list[Alarm]:
    """What is wrong with a run so far, each kind at the row that first shows it. `rows` are all its
    rows; `ended` adds what only the whole run can tell."""
    curves = Curves()
    found: dict[str, Alarm] = {}
    for row in rows:
        curves.add(row)
        for alarm in seen(curves, config):
            found.setdefault(alarm.kind, alarm)
    if ended and rows:
        for alarm in seen_at_the_end(curves, config):
            found.setdefault(alarm.kind, alarm)
    return list(found.values())


def seen(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """What is wrong as of a run's last row."""
    yield from _overlong(curves, config.batch.prompts)
    yield from _nothing_scored(curves)
    yield from _non_finite(curves, config)
    yield from bound_below_mismatch(curves, config)
    yield from drifts(curves, config)


def seen_at_the_end(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """What only a whole run can tell."""
    curves.ended = True
    yield from drifts(curves, config)
    yield from clip_never_binds(curves, config)
    yield from _never_right(curves, config)


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


def _overlong(curves: Curves, prompts: int) -> Iterator[Alarm]:
    """Prompts fill the model's context, so that nothing was asked. `prompts` are those of a batch:
    a share of a few of them says nothing of the others."""
    share = curves.mean("completions/overlong_frac")
    if _unasked(curves.row):
        share = 1.0
    batches = len(curves.values("reward/mean"))  # none in an evaluation
    if share > OVERLONG and (share == 1 or not 0 < batches * prompts < ENOUGH_PROMPTS):
        cause = (
            f"{share:.0%} of the prompts fill the model's context and are not asked: shorten them, "
            "or take a model with a longer context"
        )
        yield Alarm("prompts-overlong", curves.step, share, cause)


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


def _nothing_scored(curves: Curves) -> Iterator[Alarm]:
    """Answers were given in the last row and none was scored, or judged."""
    values = curves.row["metrics"]
    if values.get("completions/overlong_frac", 0.0) == 1 or _unasked(curves.row):
        return
    for name in ("reward/mean", "eval/acc", "eval/proxy", *_accuracies(values)):
        if math.isnan(values.get(name, 0.0)):
            what = "rollout" if name == "reward/mean" else "held-out answer"
            what = f"answer of set {named}" if (named := set_of(name)) else what
            cause = f"the reward scored no {what} (None for each): there is nothing to go by"
            yield Alarm("nothing-scored", curves.step, math.nan, cause)
            return


def _non_finite(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """A loss, gradient, ratio or reward of the last row is NaN or infinite."""
    for name in FINITE:
        value = curves.now(name)
        if value is not None and not math.isfinite(value):
            cause = (
                f"{name} overflowed: learning rate {config.optim.lr:g} is too high for this "
                "recipe, or a ratio is unbounded"
            )
            if curves.step == 0:
                cause = _damaged(name, config)
            yield Alarm("non-finite", curves.step, value, cause)
            return


def _never_right(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """No held-out answer, or none of a set, was right in any evaluation of the run."""
    for name in _accuracies(dict.fromkeys(curves.names(), 0.0)):
        if not any(curves.values(name)):
            counts = counted(judged_as(config, name))
            cause = f"no held-out answer was ever right; {name} counts {counts}"
            yield Alarm("accuracy-at-floor", curves.step, 0.0, cause)
            return


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
