"""Plans and scores for tests of the decision rules: no run folders, no ledger."""

from collections.abc import Mapping, Sequence

import numpy as np

from autoresearch.study.plan import (
    Arm,
    Budget,
    Decision,
    Factor,
    Hypothesis,
    Plan,
    Seeds,
    TrialScore,
)
from swarm.config import TrainConfig

LOOKS = (5, 10, 15)


def claim(direction="greater", arm="b", versus="a", min_effect=0.05, metric="eval/acc"):
    return Hypothesis(
        id=f"{arm}-{direction}-{versus}",
        statement=f"{arm} is {direction} than {versus}",
        metric=metric,
        arm=arm,
        versus=versus,
        direction=direction,
        min_effect=min_effect,
    )


def plan(
    *hypotheses: Hypothesis,
    looks: Sequence[int] = LOOKS,
    tasks: Sequence[str] = ("sort",),
    profile: str = "full",
    **decision: object,
) -> Plan:
    arms = ("a", "b", "c", "d")
    return Plan(
        topic="t",
        question="q",
        planner="offline",
        playbook="p",
        profile=profile,
        hypotheses=hypotheses or (claim(),),
        factors=(Factor(name="lr", role="treatment", levels=arms, sets=("optim.lr",)),),
        arms=tuple(Arm(id=arm, levels={"lr": arm}) for arm in arms),
        tasks=tuple(tasks),
        model="tiny",
        train=TrainConfig(),
        seeds=Seeds(pilot=(), tuning=(), confirm=tuple(range(200, 200 + looks[-1]))),
        decision=Decision(looks=tuple(looks), **decision),
        budget=Budget(seconds=1, trial_seconds=1),
        metrics=(),
        estimated_seconds=1,
        estimated_trial_seconds=1,
    )


def scores(
    by_arm: Mapping[str, Sequence[float | None]], *, task: str = "sort", metric: str = ""
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
