"""The queries behind outcome claims: what the trained policies did.

Each public function answers one question from the evidence, or None where there is no answer.
Scores, arms and seeds are those of the last look; see `scores` for what a trial scores.
"""

import math

from autoresearch.analysis.evidence import Answer, Evidence, mean, run_of
from autoresearch.analysis.scores import by_seed, final_value, metrics_of
from autoresearch.analysis.statistics import mean_interval, pooled_sd
from autoresearch.study.facts import TrialFacts


def verdict(evidence: Evidence, *, hypothesis: str) -> Answer:
    """The verdict, by the rules in `verdicts`."""
    return Answer(evidence.verdicts[hypothesis].verdict, runs=runs_compared(evidence, hypothesis))


def reason(evidence: Evidence, *, hypothesis: str) -> Answer:
    """Which rule gave the verdict, in words."""
    text = evidence.verdicts[hypothesis].reason
    words = text.replace("min_effect", "the smallest effect of interest")
    return Answer(words, runs=runs_compared(evidence, hypothesis))


def effect(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """mean(arm) - mean(versus), its repeated interval, and the seeds of the smaller arm."""
    found = evidence.verdicts[hypothesis]
    if found.effect is None:
        return None
    return Answer(
        found.effect,
        n=min(found.n.values()),
        interval=None if found.low is None or found.high is None else (found.low, found.high),
        runs=runs_compared(evidence, hypothesis),
    )


def direction(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """The sign of the effect in words."""
    found = evidence.verdicts[hypothesis].effect
    if found is None:
        return None
    word = "higher" if found > 0 else "lower" if found < 0 else "equal"
    return Answer(word, runs=runs_compared(evidence, hypothesis))


def p_value(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """p against no effect, over all looks, adjusted by Holm."""
    found = evidence.verdicts[hypothesis].p_adjusted
    return None if found is None else Answer(found, runs=runs_compared(evidence, hypothesis))


def p_equivalence(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """p of two one-sided tests against an effect of min_effect or more, adjusted likewise."""
    found = evidence.verdicts[hypothesis].p_equivalent
    return None if found is None else Answer(found, runs=runs_compared(evidence, hypothesis))


def seeds_scored(evidence: Evidence, *, hypothesis: str, arm: str) -> Answer:
    """Seeds of one arm that the contrast uses."""
    return Answer(evidence.verdicts[hypothesis].n[arm], runs=runs_compared(evidence, hypothesis))


def seed_score(evidence: Evidence, *, metric: str, arm: str, task: str, seed: int) -> Answer | None:
    """The registered score of one confirmation trial."""
    scored = zip(evidence.trials("confirm"), evidence.scores("confirm", metric), strict=True)
    for trial, score in scored:
        if (score.arm, score.task, score.seed) == (arm, task, seed) and score.value is not None:
            return Answer(score.value, n=1, runs=(run_of(trial),))
    return None


def arm_mean(evidence: Evidence, *, metric: str, arm: str, task: str = "") -> Answer | None:
    """Mean over seeds of an arm's scores (each the mean over tasks, if no task is named)."""
    values, runs = _arm(evidence, metric, arm, task)
    if not values:
        return None
    found = mean_interval(values, evidence.plan.decision.alpha)
    bounded = math.isfinite(found.low)
    return Answer(found.mean, found.n, (found.low, found.high) if bounded else None, runs)


def arm_sd(evidence: Evidence, *, metric: str, arm: str, task: str = "") -> Answer | None:
    """Standard deviation between an arm's seeds."""
    values, runs = _arm(evidence, metric, arm, task)
    found = pooled_sd([values])
    return None if found is None else Answer(found, len(values), runs=runs)


def final_mean(evidence: Evidence, *, metric: str, arm: str) -> Answer | None:
    """Mean final value, by the score's window, over the finished runs of an arm.

    For metrics without a hypothesis: a diverged run has no final value, and no floor is
    registered for them. `n` counts runs.
    """
    values, runs = [], []
    for trial in evidence.trials("confirm"):
        if trial.spec.arm == arm and trial.status == "finished":
            points = evidence.points(trial, metric)
            value = final_value(
                points, metric, trial.spec.config, evidence.plan.decision.last_evals
            )
            if value is not None:
                values.append(value)
                runs.append(run_of(trial))
    return Answer(mean(values), len(values), runs=tuple(runs)) if values else None


def curve_mean(evidence: Evidence, *, metric: str, arm: str, step: int) -> Answer | None:
    """Mean over an arm's runs at one step; a run past its divergence counts with the floor."""
    found = [
        (run_of(trial), value)
        for trial in evidence.trials("confirm")
        if trial.spec.arm == arm and (value := value_at(evidence, trial, metric, step)) is not None
    ]
    if not found:
        return None
    return Answer(mean([v for _, v in found]), len(found), runs=tuple(r for r, _ in found))


def value_at(evidence: Evidence, trial: TrialFacts, metric: str, step: int) -> float | None:
    """A run's value at a step; None if unknown.

    Once it has diverged it is the registered floor, where the metric has one.
    """
    points = evidence.points(trial, metric)
    for at, _, value in points:
        if at == step:
            return value
    ended = trial.status == "diverged" and step > max((p[0] for p in points), default=-1)
    floored = ended and metric in metrics_of(evidence.plan)
    return evidence.plan.decision.floor if floored else None


def runs_compared(evidence: Evidence, hypothesis: str) -> tuple[str, ...]:
    """The runs of a hypothesis' two arms."""
    claim = evidence.hypothesis(hypothesis)
    return tuple(
        run_of(trial)
        for trial in evidence.trials("confirm")
        if trial.spec.arm in (claim.arm, claim.versus)
    )


def _arm(
    evidence: Evidence, metric: str, arm: str, task: str
) -> tuple[list[float], tuple[str, ...]]:
    """An arm's scores by seed, and the runs they come from."""
    tasks = (task,) if task else evidence.plan.tasks
    seeds = by_seed(evidence.scores("confirm", metric), tasks).get(arm, {})
    runs = tuple(
        run_of(trial)
        for trial in evidence.trials("confirm")
        if trial.spec.arm == arm and trial.spec.seed in seeds and trial.spec.task in tasks
    )
    return list(seeds.values()), runs
