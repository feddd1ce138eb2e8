"""Whether a pilot shows that a study can find nothing."""

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import primary_metric
from swarm.train.metric_table import counts_right


def at_the_floor(evidence: Evidence) -> int:
    """How many pilot runs were evaluated, where the study asks for right answers, whose floor is
    the same for every task, and none of them has one in any evaluation, before training or after;
    else 0."""
    metric = primary_metric(evidence.plan)
    if not counts_right(metric):
        return 0
    runs = [evidence.points(trial, metric) for trial in evidence.trials("pilot")]
    evaluated = [points for points in runs if points]
    right = any(value for points in evaluated for _, _, value in points)
    return 0 if right else len(evaluated)
