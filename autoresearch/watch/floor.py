"""Whether a pilot shows that a study can find nothing."""

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import primary_metric

#: The metric whose floor is the same for every task: no answer is right.
ACCURACY = "eval/acc"


def at_the_floor(evidence: Evidence) -> int:
    """How many pilot runs were evaluated, where the study asks for accuracy and none of them has
    one right answer in any evaluation, before training or after; else 0."""
    if primary_metric(evidence.plan) != ACCURACY:
        return 0
    runs = [evidence.points(trial, ACCURACY) for trial in evidence.trials("pilot")]
    evaluated = [points for points in runs if points]
    right = any(value for points in evaluated for _, _, value in points)
    return 0 if right else len(evaluated)
