"""The evaluation sets of a plan: what is asked for, checked and with its digests."""

from collections.abc import Sequence

from autoresearch.study.plan import Plan
from swarm.config.parts import EvalSet
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean
from swarm.train.eval_sets import load_sets, load_training, with_digests
from swarm.train.metrics import passes


def with_sets(train: TrainConfig, sets: Sequence[EvalSet]) -> TrainConfig:
    """The config that evaluates on these sets; unchanged without any."""
    if not sets:
        return train
    evaluation = train.evaluation.model_copy(update={"sets": tuple(sets)})
    return train.model_copy(update={"evaluation": evaluation})


def with_checked_sets(plan: Plan) -> Plan:
    """The plan whose sets hold their digests and numbers of prompts. Raises Refusal for a set that
    cannot be used, that shares prompts with the training rows, or whose metric nothing logs."""
    sets = plan.train.evaluation.sets
    _refuse_unlogged(plan, sets)
    if not sets:
        return plan
    for task in plan.tasks:
        config = plan.train_config(plan.arms[0].id, task, 0, {})
        ready = load_sets(config, load_training(config))
    return plan.model_copy(update={"train": with_digests(plan.train, ready)})


def _refuse_unlogged(plan: Plan, sets: Sequence[EvalSet]) -> None:
    logged = [
        f"eval/{each.title}/{name}"
        for each in sets
        for name in (f"avg@{each.k}", *(f"pass@{j}" for j in passes(each.k)), "length")
    ]
    for hypothesis in plan.hypotheses:
        of_a_set = hypothesis.metric.count("/") > 1
        if of_a_set and hypothesis.metric not in logged:
            raise Refusal(
                "metric",
                f"{hypothesis.metric} is not measured by this study",
                did_you_mean(hypothesis.metric, logged or ["eval/acc"]),
            )
