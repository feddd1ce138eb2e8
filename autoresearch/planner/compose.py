"""A plan from a playbook, a topic as read, and the user's options."""

from collections.abc import Collection, Sequence

from autoresearch.design.arms import build_arms
from autoresearch.design.seeds import allot
from autoresearch.planner import hypotheses
from autoresearch.planner.catalogue import factor
from autoresearch.planner.conditions import Conditions, settle, substitute
from autoresearch.planner.costing import LEAST_BUDGET, LEAST_TRIAL, costed, fit
from autoresearch.planner.hypotheses import Question
from autoresearch.planner.options import StartOptions
from autoresearch.planner.own_task import own_task, require_usable
from autoresearch.planner.reading import Reading
from autoresearch.planner.settings import configure
from autoresearch.planner.sites import sites, spoken_task
from autoresearch.planner.treatments import Treatment, select
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookTuning, ProfileSettings
from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Budget, Decision, Factor, Plan, Tuning
from swarm.config import JsonValue
from swarm.tasks import is_own


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
    own = {t: own_task(t, conditions.train, conditions.chosen) for t in tasks if is_own(t)}
    arms = build_arms(conditions.factors)
    tuning, tuning_note = _tuning(playbook.tuning, profile, treatments, asked, conditions)
    plan = Plan(
        topic=options.topic,
        question=_question(playbook, reading, treatments, asked),
        planner="offline",
        playbook=playbook.id,
        profile=options.profile,
        hypotheses=hypotheses.fill(playbook, treatments, arms, asked),
        factors=(*conditions.factors, *_nuisances(tuning), *_blocks(tasks)),
        arms=arms,
        tasks=tasks,
        model=conditions.train.model.ref,
        train=conditions.train,
        task_settings={
            **_task_settings(playbook, tasks, conditions.chosen),
            **{task: found.settings for task, found in own.items()},
        },
        seeds=allot(
            options.seed,
            profile.pilot,
            profile.tuning_seeds if tuning else 0,
            profile.looks[-1],
        ),
        tuning=tuning,
        decision=Decision(**playbook.decision.model_dump(), looks=profile.looks, floor=asked.floor),
        budget=Budget(seconds=LEAST_BUDGET, trial_seconds=LEAST_TRIAL),
        metrics=tuple(m for m in playbook.metrics if m != asked.metric.name),
        estimated_seconds=0.0,
        estimated_trial_seconds=0.0,
    )
    check_arms(plan)
    require_usable(plan)
    plan, fit_note = fit(plan, profile.minutes)
    notes = [
        *_reading_notes(reading, plan),
        *conditions.notes,
        *(note for found in own.values() for note in found.notes),
        *(fit_note if plan.tuning is None and tuning else [*tuning_note, *fit_note]),
        *_trap_notes(treatments),
        *playbook.notes,
    ]
    return costed(plan, profile, asked, notes, options.budget_seconds)


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
    conditions: Conditions,
) -> tuple[Tuning | None, list[str]]:
    """The nuisance to tune, unless it is under test, set by hand, or without a score to tune on."""
    if spec is None:
        return None, []
    (path,) = factor(spec.factor).sets
    if any(path in t.factor.paths for t in treatments):
        return None, [f"{spec.factor} is not tuned: it is part of the treatment"]
    if path in conditions.chosen:
        return None, [f"{spec.factor} is not tuned: the topic or --set fixes it"]
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


def _nuisances(tuning: Tuning | None) -> list[Factor]:
    if tuning is None:
        return []
    ends = (tuning.low, tuning.high)
    return [Factor(name=tuning.factor, role="nuisance", levels=ends, sets=(tuning.path,))]


def _blocks(tasks: Sequence[str]) -> list[Factor]:
    if len(tasks) < 2:
        return []
    return [Factor(name="task", role="block", levels=tuple(tasks), sets=("task.ref",))]


def _task_settings(
    playbook: Playbook, tasks: Sequence[str], chosen: Collection[str]
) -> dict[str, dict[str, JsonValue]]:
    """What each task sets, but for what the topic or the user sets."""
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


def _reading_notes(reading: Reading, plan: Plan) -> list[str]:
    notes = []
    if reading.algorithm == "grpo" and all(f.name != "algorithm" for f in plan.factors):
        notes.append(
            "GRPO stands for the base recipe here (group-centred advantages, KL coefficient "
            f"{plan.train.algorithm.kl_coef:g}); --set algorithm.name=grpo takes the paper's preset"
        )
    return notes + [f"{name.upper()} is no preset of this trainer" for name in reading.unsupported]


def _trap_notes(treatments: Sequence[Treatment]) -> list[str]:
    return [trap for t in treatments for trap in t.factor.traps]
