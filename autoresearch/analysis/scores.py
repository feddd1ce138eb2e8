"""From run folders to one registered score a trial.

The rule, for a metric under `eval/`: the mean of its last `decision.last_evals` values. For a
metric logged at every training step: its mean over the steps that those evaluations span, the
last `decision.last_evals * evaluation.every` ones. Values that are not finite are left out, such
as the mean length of wrong answers in a batch without wrong answers.
"""

import math
from collections.abc import Iterable, Sequence

from autoresearch.study.facts import TrialFacts
from autoresearch.study.plan import Plan
from autoresearch.study.trial import TrialScore
from swarm.config.train import TrainConfig
from swarm.disk.folder import read_series

Point = tuple[int, float, float]
"""(step, training seconds so far, value)."""

EVAL = "eval/"


def final_value(
    points: Sequence[Point], metric: str, config: TrainConfig, last_evals: int
) -> float | None:
    """The registered score of one run (see the module); None where no value falls under it."""
    if metric.startswith(EVAL):
        values = [value for _, _, value in points[-last_evals:]]
    else:
        start = config.steps - last_evals * config.evaluation.every
        values = [value for step, _, value in points if step > start]
    return math.fsum(values) / len(values) if values else None


def score(trial: TrialFacts, plan: Plan) -> TrialScore:
    """The score of an ended trial on the primary metric, read from its folder.

    Raises ValueError for a trial that has not ended.
    """
    metric = primary_metric(plan)
    logged = read_series(trial.folder, metric) if trial.folder else []
    return score_points(trial, plan, metric, [p for p in logged if math.isfinite(p[2])])


def score_points(trial: TrialFacts, plan: Plan, metric: str, points: Sequence[Point]) -> TrialScore:
    """The score of an ended trial on `metric`; `points` are its finite values in step order.

    A diverged trial scores `decision.floor`, a failed one None. Raises ValueError for a trial
    that has not ended.
    """
    status, spec = trial.status, trial.spec
    if status == "pending" or status == "running":
        raise ValueError(f"trial {spec.id} has not ended")
    values = {
        "diverged": plan.decision.floor,
        "finished": final_value(points, metric, spec.config, plan.decision.last_evals),
        "failed": None,
    }
    return TrialScore(
        trial=spec.id,
        metric=metric,
        phase=spec.phase,
        arm=spec.arm,
        task=spec.task,
        seed=spec.seed,
        label=spec.label,
        status=status,
        value=values[status],
    )


def by_seed(scores: Iterable[TrialScore], tasks: Sequence[str]) -> dict[str, dict[int, float]]:
    """Arm -> seed -> mean score over tasks; a seed without a score on every task is left out."""
    found: dict[str, dict[int, dict[str, float]]] = {}
    for score in scores:
        if score.value is not None:
            found.setdefault(score.arm, {}).setdefault(score.seed, {})[score.task] = score.value
    return {
        arm: {
            seed: math.fsum(values[task] for task in tasks) / len(tasks)
            for seed, values in seeds.items()
            if all(task in values for task in tasks)
        }
        for arm, seeds in found.items()
    }


def by_candidate(scores: Iterable[TrialScore]) -> dict[str, float | None]:
    """Tuning label -> mean score over its trials, in the order of the first trial of each.

    None where a trial failed: the other arms' scores alone would not be comparable.
    """
    found: dict[str, list[float | None]] = {}
    for score in scores:
        found.setdefault(score.label, []).append(score.value)
    return {
        label: None
        if None in values
        else math.fsum(v for v in values if v is not None) / len(values)
        for label, values in found.items()
    }


def metrics_of(plan: Plan) -> tuple[str, ...]:
    """The hypotheses' metrics, each once, the primary first."""
    return tuple(dict.fromkeys(h.metric for h in plan.hypotheses))


def primary_metric(plan: Plan) -> str:
    """The first hypothesis' metric: what pilots measure and tuning raises."""
    return plan.hypotheses[0].metric
