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
from autoresearch.planner.sensitivity import Sensitivity, sensitivity
from autoresearch.planner.settings import configure
from autoresearch.planner.sites import sites, spoken_task
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
#: How far an estimate may lie above a profile's promise.
TOLERANCE = 1.1


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
    tasks = sites(playbook, profile, treatments, options.task or spoken_task(reading))
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
        decision=Decision(**playbook.decision.model_dump(), looks=profile.looks, floor=asked.floor),
        budget=Budget(seconds=_LEAST_BUDGET, trial_seconds=_LEAST_TRIAL),
        metrics=tuple(m for m in playbook.metrics if m != asked.metric.name),
        estimated_seconds=0.0,
        estimated_trial_seconds=0.0,
    )
    check_arms(plan)
    plan, fit_note = _fit(plan, profile.minutes)
    notes = [
        *_reading_notes(reading, plan),
        *conditions.notes,
        *(fit_note if plan.tuning is None and tuning else [*tuning_note, *fit_note]),
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
            configure(plan.train, values, f"arm {arm.id}", "ask for other levels, or use --set")


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


def _fit(plan: Plan, minutes: float | None) -> tuple[Plan, list[str]]:
    """The plan with as much tuning as its profile's promise on two cores leaves, and why."""
    if minutes is None or plan.tuning is None:
        return plan, []
    wanted = plan.tuning.candidates
    for candidates in range(wanted, _FEWEST_CANDIDATES - 1, -1):
        tuning = plan.tuning.model_copy(update={"candidates": candidates})
        tried = plan.model_copy(update={"tuning": tuning})
        margin = TOLERANCE if candidates == _FEWEST_CANDIDATES else 1.0
        if study_seconds(tried, REFERENCE_CORES) <= 60 * minutes * margin:
            fewer = f"{candidates} tuned values instead of {wanted}, to keep {plan.profile} short"
            return tried, [fewer] if candidates < wanted else []
    untuned = plan.model_copy(
        update={
            "tuning": None,
            "factors": tuple(f for f in plan.factors if f.role != "nuisance"),
            "seeds": plan.seeds.model_copy(update={"tuning": ()}),
        }
    )
    kept = f"{plan.tuning.path} stays at the base recipe's value"
    return untuned, [f"no tuning, to keep {plan.profile} short with {len(plan.arms)} arms: {kept}"]


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
    able = sensitivity(plan, asked)
    found = list(notes)
    promised = study_seconds(plan, REFERENCE_CORES)
    if profile.minutes and promised > 60 * profile.minutes * TOLERANCE:
        found.append(
            f"{len(plan.arms)} arms take about {_span(promised)} on two cores, "
            f"more than the {profile.minutes:g} min that {plan.profile} is meant for"
        )
    found.append(_power_note(plan, asked, able))
    return plan.model_copy(
        update={
            "budget": Budget(
                seconds=budget or max(_LEAST_BUDGET, _BUDGET_MARGIN * seconds),
                trial_seconds=max(_LEAST_TRIAL, _TRIAL_MARGIN * trial),
            ),
            "decision": plan.decision.model_copy(
                update={"exploratory": plan.profile != "full" and able.power < plan.decision.power}
            ),
            "estimated_seconds": round(seconds, 1),
            "estimated_trial_seconds": round(trial, 1),
            "notes": tuple(dict.fromkeys(found)),
        }
    )


def _power_note(plan: Plan, asked: Question, able: Sensitivity) -> str:
    return (
        f"{plan.decision.looks[-1]} seeds an arm detect {able.detectable:.2g} in "
        f"{asked.metric.name} with power {plan.decision.power:g}, if its SD over seeds is "
        f"{asked.prior_sd:g} (a guess that the pilot replaces); the smallest effect of interest is "
        f"{asked.min_effect:g}"
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
