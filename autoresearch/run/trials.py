"""Which trials each phase of a plan asks for. Pure functions; equal input gives equal trial ids."""

from collections.abc import Iterator, Mapping, Sequence

from autoresearch.study.plan import Phase, Plan, TrialSpec
from swarm.config.base import JsonValue

#: The wave of confirmation that every trial of today's plans belongs to.
FIRST_ROUND = 1


def pilot(study: str, registration: str, plan: Plan) -> list[TrialSpec]:
    """A/A: the control arm on every pilot seed, at the untuned nuisance value."""
    control = plan.arms[0].id
    return list(_trials(study, registration, plan, "pilot", [control], plan.seeds.pilot, {}))


def tuning(
    study: str, registration: str, plan: Plan, path: str, value: float, label: str
) -> list[TrialSpec]:
    """One candidate value on every arm and tuning seed."""
    arms = [arm.id for arm in plan.arms]
    seeds = plan.seeds.tuning
    return list(_trials(study, registration, plan, "tuning", arms, seeds, {path: value}, label))


def confirmation(
    study: str, registration: str, plan: Plan, n: int, nuisance: Mapping[str, JsonValue]
) -> list[TrialSpec]:
    """The first `n` registered seeds of every arm."""
    arms = [arm.id for arm in plan.arms]
    seeds = plan.seeds.confirm[:n]
    return list(_trials(study, registration, plan, "confirm", arms, seeds, nuisance))


def _trials(
    study: str,
    registration: str,
    plan: Plan,
    phase: Phase,
    arms: Sequence[str],
    seeds: Sequence[int],
    nuisance: Mapping[str, JsonValue],
    label: str = "",
) -> Iterator[TrialSpec]:
    """Seeds outermost, so that arms advance together when a study is cut short."""
    for seed in seeds:
        for task in plan.tasks:
            for arm in arms:
                yield TrialSpec(
                    study=study,
                    phase=phase,
                    round=FIRST_ROUND,
                    arm=arm,
                    task=task,
                    seed=seed,
                    config=plan.train_config(arm, task, seed, nuisance),
                    registration=registration,
                    label=label,
                )
