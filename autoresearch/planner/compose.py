"""A plan from a playbook, a topic as read, and the user's options."""

from collections.abc import Mapping, Sequence

from autoresearch.design.arms import build_arms
from autoresearch.design.seeds import allot
from autoresearch.planner import hypotheses
from autoresearch.planner.conditions import Conditions, settle, substitute
from autoresearch.planner.estimate import (
    REFERENCE_CORES,
    longest_trial,
    machine_cores,
    study_seconds,
)
from autoresearch.planner.hypotheses import Question
from autoresearch.planner.options import StartOptions
from autoresearch.planner.reading import Reading
from autoresearch.planner.settings import configure
from autoresearch.planner.sites import sites
from autoresearch.planner.treatments import Treatment, select
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookTuning, ProfileSettings
from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Budget, Decision, Factor, Plan, Tuning
from swarm.config import JsonValue

#: A study may take this many times its estimate, and this long at least, before it is cut off.
_BUDGET_MARGIN, _LEAST_BUDGET = 4.0, 1800.0
_TRIAL_MARGIN, _LEAST_TRIAL = 6.0, 300.0
_FEWEST_CANDIDATES = 2


def compose(playbook: Playbook, reading: Reading, options: StartOptions) -> Plan:
    """The plan of a playbook for a topic. Raises BadInput for what the user can put right."""
    profile = playbook.profiles.get(options.profile)
    if profile is None or playbook.abstract:
        raise BadInput(
            "profile" if profile is None else "playbook",
            f"playbook {playbook.id} has no profile {options.profile}"
            if profile is None
            else f"{playbook.id} is only there to be extended",
            "choose another; see: autoresearch playbook list",
        )
    treatments = select(playbook, reading)
    asked = hypotheses.question(playbook, reading.metric)
    conditions = settle(playbook, profile, reading, treatments, options)
    tasks = sites(playbook, profile, treatments, options.task)
    arms = build_arms(conditions.factors)
    tuning, tuning_note = _tuning(playbook.tuning, profile, treatments, asked, options)
    plan = Plan(
        topic=options.topic,
        question=_question(playbook, reading, treatments, asked),
        planner="offline",
        playbook=playbook.id,
        profile=options.profile,
        hypotheses=hypotheses.fill(playbook, treatments, arms, asked),
        factors=(*conditions.factors, *_nuisances(tuning, conditions), *_blocks(tasks)),
        arms=arms,
        tasks=tasks,
        model=conditions.train.model.ref,
        train=conditions.train,
        task_settings=_task_settings(playbook, tasks, options.set),
        seeds=allot(
            options.seed,
            profile.pilot,
            profile.tuning_seeds if tuning else 0,
            profile.looks[-1],
        ),
        tuning=tuning,
        decision=Decision.model_validate(
            {**playbook.decision, "looks": profile.looks, "floor": asked.floor}
        ),
        budget=Budget(seconds=_LEAST_BUDGET, trial_seconds=_LEAST_TRIAL),
        metrics=tuple(m for m in playbook.metrics if m != asked.metric.name),
        estimated_seconds=0.0,
        estimated_trial_seconds=0.0,
    )
    check_arms(plan)
    plan = _fit(plan, profile.minutes)
    notes = [
        *_reading_notes(reading, plan),
        *conditions.notes,
        *tuning_note,
        *_trap_notes(treatments),
        *playbook.notes,
    ]
    return _costed(plan, profile, asked, notes, options.budget_seconds)


def check_arms(plan: Plan) -> None:
    """Raise BadInput for an arm whose training config is impossible."""
    for task in plan.tasks:
        for arm in plan.arms:
            values: dict[str, JsonValue] = dict(plan.task_settings.get(task, {}))
            for treatment in plan.treatments:
                values |= treatment.assign(arm.levels[treatment.name])
            configure(plan.train, values, f"arm {arm.id}")


def _tuning(
    spec: PlaybookTuning | None,
    profile: ProfileSettings,
    treatments: Sequence[Treatment],
    asked: Question,
    options: StartOptions,
) -> tuple[Tuning | None, list[str]]:
    """The nuisance to tune, unless it is under test, set by hand, or without a score to tune on."""
    if spec is None:
        return None, []
    from autoresearch.planner.catalogue import factor

    (path,) = factor(spec.factor).sets
    if any(path in t.factor.paths for t in treatments):
        return None, [f"{spec.factor} is not tuned: it is part of the treatment"]
    if path in options.set:
        return None, [f"{spec.factor} is not tuned: --set fixes it"]
    if asked.metric.better != "up":
        return None, [f"{spec.factor} is not tuned: no sign of {asked.metric.name} is better"]
    note = f"{spec.factor} is chosen once for all arms, on tuning seeds, by scores pooled over arms"
    return (
        Tuning(
            factor=spec.factor,
            path=path,
            low=spec.low,
            high=spec.high,
            log=spec.log,
            candidates=profile.candidates,
            sampler=spec.sampler,
        ),
        [note],
    )


def _nuisances(tuning: Tuning | None, conditions: Conditions) -> list[Factor]:
    if tuning is None:
        return []
    lowest, highest = tuning.low, tuning.high
    return [
        Factor(name=tuning.factor, role="nuisance", levels=(lowest, highest), sets=(tuning.path,))
    ]


def _blocks(tasks: Sequence[str]) -> list[Factor]:
    if len(tasks) < 2:
        return []
    return [Factor(name="task", role="block", levels=tuple(tasks), sets=("task.ref",))]


def _task_settings(
    playbook: Playbook, tasks: Sequence[str], chosen: Mapping[str, JsonValue]
) -> dict[str, dict[str, JsonValue]]:
    """What each task sets, but for what the user sets."""
    settings = {task: substitute(playbook.task_settings.get(task, {}), {}) for task in tasks}
    kept = {
        task: {path: value for path, value in values.items() if path not in chosen}
        for task, values in settings.items()
    }
    return {task: values for task, values in kept.items() if values}


def _question(
    playbook: Playbook, reading: Reading, treatments: Sequence[Treatment], asked: Question
) -> str:
    own = {listed.name for listed in playbook.factors}
    if playbook.question and own == {t.name for t in treatments}:
        return playbook.question
    changed = " or ".join(
        f"{t.factor.title} ({', '.join(hypotheses.text(level) for level in t.levels)})"
        for t in treatments
    )
    return f"Does {changed} change {asked.metric.title}?"


def _fit(plan: Plan, minutes: float | None) -> Plan:
    """The plan with as many tuning candidates as the profile's promise on two cores leaves."""
    tuning = plan.tuning
    while (
        minutes
        and tuning
        and tuning.candidates > _FEWEST_CANDIDATES
        and study_seconds(plan, REFERENCE_CORES) > 60 * minutes
    ):
        tuning = tuning.model_copy(update={"candidates": tuning.candidates - 1})
        plan = plan.model_copy(update={"tuning": tuning})
    return plan


def _costed(
    plan: Plan,
    profile: ProfileSettings,
    asked: Question,
    notes: Sequence[str],
    budget: float | None,
) -> Plan:
    """The plan with its estimate, limits, power and notes. Raises BadInput above the budget."""
    seconds, trial = study_seconds(plan, machine_cores()), longest_trial(plan)
    if budget is not None and seconds > budget:
        raise BadInput(
            "budget",
            f"the plan takes about {_span(seconds)}, the budget is {_span(budget)}",
            "raise --budget, take a smaller --profile, or name fewer levels",
        )
    power, detectable = _power(plan, asked)
    found = list(notes)
    promised = study_seconds(plan, REFERENCE_CORES)
    if profile.minutes and promised > 60 * profile.minutes * 1.1:
        found.append(
            f"{len(plan.arms)} arms take about {_span(promised)} on two cores, "
            f"more than the {profile.minutes:g} min that {plan.profile} is meant for"
        )
    found.append(
        f"{plan.decision.looks[-1]} seeds an arm detect {detectable:.2g} in {asked.metric.name} "
        f"with power {plan.decision.power:g}, if its SD over seeds is {asked.prior_sd:g} (a guess "
        f"that the pilot replaces); the smallest effect of interest is {asked.min_effect:g}"
    )
    return plan.model_copy(
        update={
            "budget": Budget(
                seconds=budget or max(_LEAST_BUDGET, _BUDGET_MARGIN * seconds),
                trial_seconds=max(_LEAST_TRIAL, _TRIAL_MARGIN * trial),
            ),
            "decision": plan.decision.model_copy(
                update={"exploratory": plan.profile != "full" and power < plan.decision.power}
            ),
            "estimated_seconds": round(seconds, 1),
            "estimated_trial_seconds": round(trial, 1),
            "notes": tuple(dict.fromkeys(found)),
        }
    )


def _power(plan: Plan, asked: Question) -> tuple[float, float]:
    """Power at the smallest effect of interest and the detectable effect, at the last look."""
    from autoresearch.design.looks import nominal_alpha
    from autoresearch.design.power import detectable_effect, power

    decision = plan.decision
    alpha = nominal_alpha(decision.alpha, decision.looks) / len(plan.hypotheses)
    n, test = decision.looks[-1], decision.test
    return (
        power(asked.min_effect, asked.prior_sd, n, alpha=alpha, test=test),
        detectable_effect(asked.prior_sd, n, alpha=alpha, power=decision.power, test=test),
    )


def _reading_notes(reading: Reading, plan: Plan) -> list[str]:
    notes = []
    if reading.algorithm == "grpo" and all(f.name != "algorithm" for f in plan.factors):
        notes.append(
            "GRPO stands for the base recipe here (group-centred advantages, KL coefficient "
            f"{plan.train.algorithm.kl_coef:g}); --set algorithm.name=grpo takes the paper's preset"
        )
    notes += [f"{name.upper()} is no preset of this trainer" for name in reading.unsupported]
    tested = {f.name for f in plan.treatments}
    left = [n.factor for n in reading.treatments if n.factor not in tested]
    return notes + [f"{name} is named but not under test in {plan.playbook}" for name in left]


def _trap_notes(treatments: Sequence[Treatment]) -> list[str]:
    return [trap for t in treatments for trap in t.factor.traps]


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
