"""A plan from a playbook, a topic as read, and the user's options."""

from collections.abc import Collection, Sequence

from autoresearch.catalogue import factor
from autoresearch.design.arms import build_arms
from autoresearch.design.seeds import allot
from autoresearch.planner import hypotheses
from autoresearch.planner.costing import LEAST_BUDGET, LEAST_TRIAL, costed, fit
from autoresearch.planner.fixed_settings import FixedSettings, fix_settings, substitute
from autoresearch.planner.hypotheses import Question
from autoresearch.planner.task_for import own_task, require_usable, spoken_task, tasks_for
from autoresearch.planner.treatments import Treatment, select
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookTuning, ProfileSettings
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Budget, Decision, Factor, Plan, Tuning
from autoresearch.topic.parse import ParsedTopic
from swarm.config.base import JsonValue
from swarm.config.paths import configure
from swarm.errors import Refusal
from swarm.tasks import is_own


def compose(playbook: Playbook, parsed: ParsedTopic, options: StartOptions) -> Plan:
    """The plan of a playbook for a topic. Raises Refusal for what the user can put right."""
    profile = playbook.profiles.get(options.profile)
    if profile is None or playbook.abstract:
        raise Refusal(
            "profile" if profile is None else "playbook",
            f"playbook {playbook.id} has no profile {options.profile}"
            if profile is None
            else f"{playbook.id} is only there to be extended",
            "choose another; see: autoresearch playbook list",
        )
    treatments = select(playbook, parsed)
    asked = hypotheses.question(playbook, parsed.metric)
    fixed = fix_settings(playbook, profile, parsed, treatments, options)
    tasks = tasks_for(playbook, profile, treatments, options.task or spoken_task(parsed))
    own = {t: own_task(t, fixed.train, fixed.chosen) for t in tasks if is_own(t)}
    arms = build_arms(fixed.factors)
    tuning, tuning_note = _tuning(playbook.tuning, profile, treatments, asked, fixed)
    plan = Plan(
        topic=options.topic,
        question=_question(playbook, parsed, treatments, asked),
        planner="offline",
        playbook=playbook.id,
        profile=options.profile,
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
        *_topic_notes(parsed, plan),
        *fixed.notes,
        *(note for found in own.values() for note in found.notes),
        *(fit_note if plan.tuning is None and tuning else [*tuning_note, *fit_note]),
        *_trap_notes(treatments),
        *playbook.notes,
    ]
    return costed(plan, profile, asked, notes, options.budget_seconds)


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
    asked: Question,
    fixed: FixedSettings,
) -> tuple[Tuning | None, list[str]]:
    """The nuisance to tune, unless it is under test, set by hand, or without a score to tune on."""
    if spec is None:
        return None, []
    (path,) = factor(spec.factor).sets
    if any(path in t.factor.paths for t in treatments):
        return None, [f"{spec.factor} is not tuned: it is part of the treatment"]
    if path in fixed.chosen:
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
    playbook: Playbook, parsed: ParsedTopic, treatments: Sequence[Treatment], asked: Question
) -> str:
    own = {listed.name for listed in playbook.factors}
    if playbook.question and own == {t.name for t in treatments}:
        return playbook.question
    changed = " or ".join(
        f"{t.factor.title} ({', '.join(hypotheses.text(level) for level in t.levels)})"
        for t in treatments
    )
    return f"Does {changed} change {asked.metric.title}?"


def _topic_notes(parsed: ParsedTopic, plan: Plan) -> list[str]:
    notes = []
    if parsed.algorithm == "grpo" and all(f.name != "algorithm" for f in plan.factors):
        notes.append(
            "GRPO stands for the base recipe here (group-centred advantages, KL coefficient "
            f"{plan.train.algorithm.kl_coef:g}); --set algorithm.name=grpo takes the paper's preset"
        )
    return notes + [f"{name.upper()} is no preset of this trainer" for name in parsed.unsupported]


def _trap_notes(treatments: Sequence[Treatment]) -> list[str]:
    return [trap for t in treatments for trap in t.factor.traps]
