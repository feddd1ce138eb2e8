"""Scores for tests of the decision rules: no run folders, no ledger."""

from collections.abc import Mapping, Sequence

import numpy as np

from autoresearch.study.trial import TrialScore


def scores(
    by_arm: Mapping[str, Sequence[float | None]], *, task: str = "sort", metric: str = "eval/acc"
) -> list[TrialScore]:
    """One score per arm and confirmation seed, in the order of the seeds; None has failed."""
    return [
        TrialScore(
            trial=f"{metric}-{arm}-{task}-{200 + i}",
            metric=metric,
            phase="confirm",
            arm=arm,
            task=task,
            seed=200 + i,
            status="failed" if value is None else "finished",
            value=value,
        )
        for arm, values in by_arm.items()
        for i, value in enumerate(values)
    ]


def drawn(
    rng: np.random.Generator, effects: Mapping[str, float], n: int = 15, sd: float = 0.05
) -> list[TrialScore]:
    """Normal scores around 0.5 plus each arm's effect."""
    return scores({arm: rng.normal(0.5 + effect, sd, n) for arm, effect in effects.items()})
