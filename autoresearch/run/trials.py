"""Which trials each phase of a plan asks for. Pure functions; equal input gives equal trial ids."""

from collections.abc import Mapping, Sequence
from itertools import product

from autoresearch.study.plan import Arm, Phase, Plan
from autoresearch.study.trial import TrialSpec
from swarm.config.base import JsonValue

#: Present plans have one round of confirmation.
FIRST_ROUND = 1


def pilot(study: str, registration: str, plan: Plan) -> list[TrialSpec]:
    """A/A: the control arm on every pilot seed, at the untuned nuisance value."""
    return _trials(study, registration, plan, "pilot", plan.arms[:1], plan.seeds.pilot, {})


def tuning(
    study: str, registration: str, plan: Plan, path: str, value: float, label: str
) -> list[TrialSpec]:
    """One candidate value on every arm and tuning seed."""
    nuisance = {path: value}
    seeds = plan.seeds.tuning
    return _trials(study, registration, plan, "tuning", plan.arms, seeds, nuisance, label)


def confirmation(
    study: str, registration: str, plan: Plan, n: int, nuisance: Mapping[str, JsonValue]
) -> list[TrialSpec]:
    """The first `n` registered seeds of every arm."""
    seeds = plan.seeds.confirm[:n]
    return _trials(study, registration, plan, "confirm", plan.arms, seeds, nuisance)


def _trials(
    study: str,
    registration: str,
    plan: Plan,
    phase: Phase,
    arms: Sequence[Arm],
    seeds: Sequence[int],
    nuisance: Mapping[str, JsonValue],
    label: str = "",
) -> list[TrialSpec]:
    """Seeds outermost, so that arms advance together when a study is cut short."""
    return [
        TrialSpec(
            study=study,
            phase=phase,
            round=FIRST_ROUND,
            arm=arm.id,
            task=task,
            seed=seed,
            config=plan.train_config(arm.id, task, seed, nuisance),
            registration=registration,
            label=label,
        )
        for seed, task, arm in product(seeds, plan.tasks, arms)
    ]
