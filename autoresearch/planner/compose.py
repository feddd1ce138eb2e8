"""An intent and its playbook become a plan, the same way for every planner."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from autoresearch.catalogue import factor
from autoresearch.design.arms import build_arms
from autoresearch.design.seeds import allot
from autoresearch.planner import hypotheses
from autoresearch.planner.costing import LEAST_BUDGET, LEAST_TRIAL, costed, fit
from autoresearch.planner.fixed_settings import FixedSettings, fix_settings, substitute
from autoresearch.planner.hypotheses import Measure
from autoresearch.planner.notes import PRESET
from autoresearch.planner.recipe import recipe_for, under_recipe
from autoresearch.planner.repairs import drop_tuned_factor, take_nearest_levels, widen_range
from autoresearch.planner.sets_for import notes_of_sets, with_checked_sets, with_sets
from autoresearch.planner.task_for import (
    own_task,
    require_usable,
    tasks_for,
    with_own_data_by_arm,
)
from autoresearch.planner.treatments import Treatment, select
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookTuning, ProfileSettings
from autoresearch.study.intent import Intent
from autoresearch.study.plan import Budget, Factor, Plan, Tuning
from autoresearch.study.rules import Decision
from swarm.config.base import JsonValue
from swarm.config.checked import configure
from swarm.config.paths import setting
from swarm.errors import Refusal
from swarm.tasks import is_own


def compose(playbook: Playbook, intent: Intent) -> Plan:
    """The plan of an intent. Raises Refusal for a problem that the user has to solve, NeedsRepair
    for one that planning solves itself."""
    profile = playbook.profiles.get(intent.profile)
    if profile is None or playbook.abstract:
        raise Refusal(
            "profile" if profile is None else "playbook",
            f"playbook {playbook.id} has no profile {intent.profile}"
            if profile is None
            else f"{playbook.id} is only there to be extended",
            "choose another; see: autoresearch playbook list",
        )
    recipe = recipe_for(playbook, intent.model or playbook.model)
    chosen_task = (intent.task,) if intent.task else profile.tasks or playbook.tasks
    playbook = under_recipe(playbook, recipe, own_rows=any(map(is_own, chosen_task)))
    if intent.seeds is not None:
        profile = profile.model_copy(update={"looks": (intent.seeds,)})
    for each in intent.factors:
        take_nearest_levels(factor(each.name), each)
    treatments = select(playbook, intent, recipe)
    asked = hypotheses.measure(playbook, intent.metric)
    fixed = fix_settings(playbook, profile, intent, treatments)
    fixed = replace(fixed, train=with_sets(fixed.train, intent.evaluation))
    tasks = tasks_for(playbook, profile, treatments, intent.task)
    own = {t: own_task(t, fixed.train, fixed.chosen) for t in tasks if is_own(t)}
    arms = build_arms(fixed.factors)
    tuning, tuning_note = _tuning(playbook.tuning, profile, treatments, asked, fixed, intent)
    plan = Plan(
        topic=intent.topic,
        question=_question(playbook, treatments, asked),
        planner=intent.planner,
        playbook=playbook.id,
        profile=intent.profile,
        hypotheses=hypotheses.fill(playbook, treatments, arms, asked),
        factors=(*fixed.factors, *_nuisances(tuning), *_blocks(tasks)),
        arms=arms,
        tasks=tasks,
        model=fixed.train.model.ref,
        train=fixed.train,
        task_settings={
            **_task_settings(playbook, tasks, fixed.chosen),
            **{task: found.settings for task, found in own.items()},
        },
        seeds=allot(
            intent.seed,
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
    plan = with_checked_sets(with_own_data_by_arm(plan))
    require_usable(plan)
    plan, fit_note = fit(plan, profile.minutes)
    notes = [
        *intent.left_aside,
        *(made.note for made in intent.repairs if made.name == "take the nearest level"),
        *_preset_notes(intent, plan),
        *recipe.said,
        *fixed.notes,
        *(note for found in own.values() for note in found.notes),
        *notes_of_sets(plan),
        *(fit_note if plan.tuning is None and tuning else [*tuning_note, *fit_note]),
        *(trap for treatment in treatments for trap in treatment.factor.traps),
        *playbook.notes,
        *recipe.limits,
        *intent.known,
    ]
    return costed(plan, profile, asked, notes, intent.budget_seconds)


def check_arms(plan: Plan) -> None:
    """Raise Refusal for an arm whose training config is impossible."""
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
    asked: Measure,
    fixed: FixedSettings,
    intent: Intent,
) -> tuple[Tuning | None, list[str]]:
    """The factor to tune, and notes. None where it is under test or held fixed, and where the
    metric has no better sign to tune for."""
    if spec is None:
        return None, []
    (path,) = factor(spec.factor).sets
    if any(path in t.factor.paths for t in treatments):
        return None, [drop_tuned_factor(spec, intent)]
    if path in fixed.chosen:
        return None, [f"{spec.factor} is not tuned: the topic or --set fixes it"]
    if asked.metric.better != "up":
        return None, [f"{spec.factor} is not tuned: no sign of {asked.metric.name} is better"]
    notes = [
        f"{spec.factor} is chosen once for all arms, on tuning seeds, by scores pooled over arms"
    ]
    if widened := intent.repair("widen a range", spec.factor):
        spec = spec.model_copy(update=dict(widened.settings))
        notes.append(widened.note)
    widen_range(spec, setting(fixed.train, path))
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
        notes,
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
    """What each task sets, without the paths that the topic or the user fixes."""
    settings = {task: substitute(playbook.task_settings.get(task, {}), {}) for task in tasks}
    kept = {
        task: {path: value for path, value in values.items() if path not in chosen}
        for task, values in settings.items()
    }
    return {task: values for task, values in kept.items() if values}


def _question(playbook: Playbook, treatments: Sequence[Treatment], asked: Measure) -> str:
    own = {listed.name for listed in playbook.factors}
    if playbook.question and own == {t.name for t in treatments}:
        return playbook.question
    changed = " or ".join(
        f"{t.factor.title} ({', '.join(hypotheses.text(level) for level in t.levels)})"
        for t in treatments
    )
    return f"Does {changed} change {asked.metric.title}?"


def _preset_notes(intent: Intent, plan: Plan) -> list[str]:
    if intent.algorithm != "grpo" or any(f.name == "algorithm" for f in plan.factors):
        return []
    return [PRESET.format(kl=plan.train.algorithm.kl_coef)]
