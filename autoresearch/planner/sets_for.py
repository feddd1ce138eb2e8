"""The evaluation sets of a plan: what is asked for, checked and with its digests."""

from collections.abc import Iterable, Sequence

from autoresearch.study.plan import Plan
from swarm.config.parts import HELD_OUT_REF, EvalSet, TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean
from swarm.models import tiny
from swarm.train.eval_sets import (
    Ready,
    check_sets,
    is_rows,
    load_sets,
    load_training,
    with_digests,
)
from swarm.train.metric_table import names_of_set, passes, set_of


def with_sets(train: TrainConfig, sets: Sequence[EvalSet]) -> TrainConfig:
    """The config that evaluates on these sets; unchanged without any. Raises Refusal where two have
    one name."""
    if not sets:
        return train
    titles = [each.title for each in sets]
    for title in titles:
        if titles.count(title) > 1:
            problem = f"two evaluation sets are called {title}"
            raise Refusal("eval", problem, "give one another name: --eval FILE,name=NAME")
    evaluation = train.evaluation.model_copy(update={"sets": tuple(sets)})
    return train.model_copy(update={"evaluation": evaluation})


def with_checked_sets(plan: Plan) -> Plan:
    """The plan whose sets hold their digests, what judges them and how many prompts they have. Arms
    that train on different rewards of rows are all judged by the control's, unless a set names one.
    Raises Refusal for a set that cannot be used, that shares prompts with the training rows of some
    arm, or whose metric nothing logs."""
    _refuse_unlogged(plan, plan.train.evaluation.sets)
    if not plan.train.evaluation.sets and _judged_apart(plan):
        sets = (EvalSet(ref=HELD_OUT_REF),)
        plan = plan.model_copy(update={"train": with_sets(plan.train, sets)})
    if not plan.train.evaluation.sets:
        return plan
    loaded: list[TaskSettings] = []
    found: list[Sequence[Ready]] = []
    train = plan.train
    for config in _configs(plan):
        if config.task in loaded:
            continue
        judged_alike = config.model_copy(update={"evaluation": train.evaluation})
        task = load_training(judged_alike)
        ready = load_sets(judged_alike, task)
        if plan.model == tiny.NAME:
            from swarm.models.tokenizer import build_tokenizer

            check_sets(ready, task, build_tokenizer(), judged_alike)
        loaded.append(config.task)
        found.append(ready)
        train = with_digests(train, [min(e, key=_size) for e in zip(*found, strict=True)])
    return plan.model_copy(update={"train": train})


def notes_of_sets(plan: Plan) -> list[str]:
    """What judges all arms alike where the rewards that train them differ."""
    if not _judged_apart(plan):
        return []
    rewards = dict.fromkeys(each.reward for each in plan.train.evaluation.sets if each.reward)
    return [f"every arm's answers are judged by {' and '.join(rewards)}, whatever trains it"]


def _judged_apart(plan: Plan) -> bool:
    """Whether arms that train on rows have rewards that differ, each of which would judge its own
    arm's answers."""
    return any(
        is_rows(task) and len({c.task.reward for c in _configs(plan) if c.task.ref == task}) > 1
        for task in plan.tasks
    )


def _size(ready: Ready) -> int:
    return len(ready.problems)


def _configs(plan: Plan) -> Iterable[TrainConfig]:
    """The control arm's first: what it is judged by judges all."""
    control = {factor.name: factor.control for factor in plan.treatments}
    arms = sorted(plan.arms, key=lambda arm: dict(arm.levels) != control)
    return (plan.train_config(arm.id, task, 0, {}) for arm in arms for task in plan.tasks)


def _refuse_unlogged(plan: Plan, sets: Sequence[EvalSet]) -> None:
    """Raise Refusal for a metric of a set that the plan does not have, or not with such a k."""
    by_title = {each.title: each for each in sets}
    for metric in dict.fromkeys((*(h.metric for h in plan.hypotheses), *plan.metrics)):
        title = set_of(metric)
        if title is None:
            continue
        if title not in by_title:
            raise Refusal(
                "metric",
                f"{metric} is of an evaluation set that this study does not have",
                did_you_mean(title, by_title) if sets else "give one with --eval",
            )
        logged = names_of_set(title, by_title[title].k)
        if metric not in logged:
            k = by_title[title].k
            raise Refusal(
                "metric",
                f"{metric} is not measured: {title} is answered {k} times a prompt, which gives "
                f"avg@{k} and pass@{', '.join(map(str, passes(k)))}",
                did_you_mean(metric, logged),
            )
