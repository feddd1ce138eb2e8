"""The queries behind outcome claims: what the trained policies did.

Each public function is a query. It answers one question from the evidence.
Scores, arms and seeds are those of the last look; see `scores` for what a trial scores.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from autoresearch.analysis.evidence import Answer, Evidence, mean, run_of
from autoresearch.analysis.scores import by_seed, final_value
from autoresearch.analysis.statistics import mean_interval, pooled_sd


def verdict(evidence: Evidence, *, hypothesis: str) -> Answer:
    """The verdict, by the rules in `verdicts`."""
    return _compared(evidence, hypothesis, evidence.verdicts[hypothesis].verdict)


def reason(evidence: Evidence, *, hypothesis: str) -> Answer:
    """Which rule gave the verdict, in words."""
    text = evidence.verdicts[hypothesis].reason
    words = text.replace("min_effect", "the smallest effect of interest")
    return _compared(evidence, hypothesis, words)


def effect(evidence: Evidence, *, hypothesis: str) -> Answer:
    """mean(arm) - mean(versus), its repeated interval, and the seeds of the smaller arm."""
    found = evidence.verdicts[hypothesis]
    bounds = None if found.low is None or found.high is None else (found.low, found.high)
    answer = _compared(evidence, hypothesis, found.effect)
    return replace(answer, n=min(found.n.values()), interval=bounds)


def direction(evidence: Evidence, *, hypothesis: str) -> Answer:
    """The sign of the effect in words."""
    found = evidence.verdicts[hypothesis].effect
    if found is None:
        return Answer(None)
    word = "higher" if found > 0 else "lower" if found < 0 else "equal"
    return _compared(evidence, hypothesis, word)


def p_value(evidence: Evidence, *, hypothesis: str) -> Answer:
    """p against no effect, over all looks, adjusted by Holm."""
    return _compared(evidence, hypothesis, evidence.verdicts[hypothesis].p_adjusted)


def p_equivalence(evidence: Evidence, *, hypothesis: str) -> Answer:
    """p of two one-sided tests against an effect of min_effect or more, adjusted likewise."""
    return _compared(evidence, hypothesis, evidence.verdicts[hypothesis].p_equivalent)


def seeds_scored(evidence: Evidence, *, hypothesis: str, arm: str) -> Answer:
    """Seeds of one arm that the contrast uses."""
    return _compared(evidence, hypothesis, evidence.verdicts[hypothesis].n[arm])


def seed_score(evidence: Evidence, *, metric: str, arm: str, task: str, seed: int) -> Answer:
    """The registered score of one confirmation trial."""
    runs = evidence.runs("confirm", arm=[arm], task=[task], seed=[seed])
    for score in evidence.scores("confirm", metric):
        if (score.arm, score.task, score.seed) == (arm, task, seed):
            return Answer(score.value, n=1, runs=runs)
    return Answer(None)


def arm_mean(evidence: Evidence, *, metric: str, arm: str, task: str = "") -> Answer:
    """Mean over seeds of an arm's scores (each the mean over tasks, if no task is named)."""
    values, runs = _arm(evidence, metric, arm, task)
    if not values:
        return Answer(None)
    middle, low, high = mean_interval(values, evidence.plan.decision.alpha)
    return Answer(middle, len(values), (low, high) if math.isfinite(low) else None, runs)


def arm_sd(evidence: Evidence, *, metric: str, arm: str, task: str = "") -> Answer:
    """Standard deviation between an arm's seeds."""
    values, runs = _arm(evidence, metric, arm, task)
    return Answer(pooled_sd([values]), len(values), runs=runs)


def final_mean(evidence: Evidence, *, metric: str, arm: str) -> Answer:
    """Mean final value, by the score's window, over the finished runs of an arm.

    For metrics without a hypothesis: a diverged run has no final value, and no floor is
    registered for them. `n` counts runs.
    """
    last = evidence.plan.decision.last_evals
    return _over_runs(
        (
            run_of(trial),
            final_value(evidence.points(trial, metric), metric, trial.spec.config, last),
        )
        for trial in evidence.trials("confirm")
        if trial.spec.arm == arm and trial.status == "finished"
    )


def curve_mean(evidence: Evidence, *, metric: str, arm: str, step: int) -> Answer:
    """Mean over an arm's runs at one step; a run past its divergence counts with the floor."""
    return _over_runs(
        (run_of(trial), evidence.value_at(trial, metric, step))
        for trial in evidence.trials("confirm")
        if trial.spec.arm == arm
    )


def _compared(evidence: Evidence, hypothesis: str, value: float | str | None) -> Answer:
    """A value that rests on the runs of a hypothesis' two arms."""
    claim = evidence.hypothesis(hypothesis)
    return Answer(value, runs=evidence.runs("confirm", arm=(claim.arm, claim.versus)))


def _over_runs(values: Iterable[tuple[str, float | None]]) -> Answer:
    """The mean over the runs that have a value; n counts them."""
    found = {run: value for run, value in values if value is not None}
    return Answer(mean(list(found.values())) if found else None, len(found), runs=tuple(found))


def _arm(
    evidence: Evidence, metric: str, arm: str, task: str
) -> tuple[list[float], tuple[str, ...]]:
    """An arm's scores by seed, and the runs they come from."""
    tasks = (task,) if task else evidence.plan.tasks
    seeds = by_seed(evidence.scores("confirm", metric), tasks).get(arm, {})
    return list(seeds.values()), evidence.runs("confirm", arm=[arm], seed=seeds, task=tasks)
