"""From run folders to one registered score a trial.

The rule, for a metric under `eval/`: the mean of its last `decision.last_evals` values. For a
metric logged at every training step: its mean over the steps that those evaluations span, the
last `decision.last_evals * evaluation.every` ones. Values that are not finite are left out, such
as the mean length of wrong answers in a batch without wrong answers.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from autoresearch.study.facts import ENDED, StudyFacts, TrialFacts
from autoresearch.study.plan import Plan, TrialScore
from swarm.config import TrainConfig
from swarm.runfolder import read_series

Point = tuple[int, float, float]
"""(step, training seconds so far, value)."""

EVAL = "eval/"


def series(folder: Path, metric: str) -> list[Point]:
    """The finite values of one metric in step order."""
    return [point for point in read_series(folder, metric) if math.isfinite(point[2])]


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


def score(trial: TrialFacts, plan: Plan, metric: str | None = None) -> TrialScore:
    """The score of an ended trial on `metric`, by default the first hypothesis'.

    A diverged trial scores `decision.floor`, a failed one None. Raises ValueError for a trial
    that has not ended.
    """
    folder = trial.folder
    points = [] if folder is None else series(folder, metric or primary_metric(plan))
    return score_points(trial, plan, metric or primary_metric(plan), points)


def score_points(trial: TrialFacts, plan: Plan, metric: str, points: Sequence[Point]) -> TrialScore:
    """`score` of a trial whose series has been read already."""
    status, spec = trial.status, trial.spec
    if status == "pending" or status == "running":
        raise ValueError(f"trial {spec.id} has not ended")
    value: float | None = None
    if status == "diverged":
        value = plan.decision.floor
    elif status == "finished":
        value = final_value(points, metric, spec.config, plan.decision.last_evals)
    return TrialScore(
        trial=spec.id,
        phase=spec.phase,
        arm=spec.arm,
        task=spec.task,
        seed=spec.seed,
        label=spec.label,
        status=status,
        value=value,
    )


def scores(facts: StudyFacts, phase: str, metric: str | None = None) -> list[TrialScore]:
    """The scores of a phase's ended trials, in the ledger's order. Raises ValueError unplanned."""
    if facts.plan is None:
        raise ValueError(f"study {facts.study} has no plan")
    return [
        score(trial, facts.plan, metric) for trial in facts.of_phase(phase) if trial.status in ENDED
    ]


def primary_metric(plan: Plan) -> str:
    """The first hypothesis' metric: what pilots measure and tuning improves."""
    return plan.hypotheses[0].metric
