"""A plan as `start --dry-run --json` prints it, and the study id that goes with it."""

import re
from typing import Any

from autoresearch.design.cost import trial_counts
from autoresearch.planner.task_for import data_of
from autoresearch.study.intent import Intent
from autoresearch.study.plan import Plan
from swarm.config.base import JsonValue, canonical_digest
from swarm.config.paths import flat

_LONGEST_SLUG = 40
#: What depends on the machine rather than on what was asked.
_MACHINE = {"estimated_seconds", "estimated_trial_seconds", "budget", "notes"}


def study_id(plan: Plan) -> str:
    """A readable slug of the topic and six hex digits of the plan: equal plans, equal ids."""
    slug = re.sub(r"[^a-z0-9]+", "-", plan.topic.lower()).strip("-")
    if len(slug) > _LONGEST_SLUG:
        slug = slug[: _LONGEST_SLUG + 1].rpartition("-")[0] or slug[:_LONGEST_SLUG]
    digest = canonical_digest(plan.model_dump(mode="json", exclude=_MACHINE))
    return f"{slug or 'study'}-{digest[:6]}"


def preview(plan: Plan, intent: Intent | None = None) -> dict[str, Any]:
    """The JSON document of a plan that has not started.

    `registration` is the sha256 that a start registers, `differs` what each arm sets that not all
    arms set alike, `settings` are all of the control arm's; where the plan came from a question,
    `set` is what the user fixed of them, and `left_aside` what of the question is not answered.
    """
    return {
        "study": study_id(plan),
        "topic": plan.topic,
        "planner": plan.planner,
        "playbook": plan.playbook,
        "question": plan.question,
        "hypotheses": [
            h.model_dump(
                mode="json",
                include={"id", "metric", "arm", "versus", "direction", "min_effect"},
            )
            for h in plan.hypotheses
        ],
        "factors": [
            f.model_dump(mode="json", include={"name", "role", "levels", "control"})
            for f in plan.factors
        ],
        "arms": [arm.model_dump(mode="json") for arm in plan.arms],
        "tasks": list(plan.tasks),
        "model": plan.model,
        "seeds": {"tuning": list(plan.seeds.tuning), "confirm": list(plan.seeds.confirm)},
        "trials": sum(trial_counts(plan).values()),
        "estimated_seconds": plan.estimated_seconds,
        "budget": plan.budget.model_dump(mode="json"),
        "registration": plan.digest(),
        "data": [each.document() for each in data_of(plan)],
        "evaluation": [each.model_dump(mode="json") for each in plan.train.evaluation.sets],
        "differs": {arm.id: differing(plan, arm.id) for arm in plan.arms},
        "settings": settings(plan),
        "varied": list(varied(plan)),
        "set": dict(intent.set) if intent else {},
        "left_aside": list(intent.left_aside) if intent else [],
        "repairs": [repair.name for repair in intent.repairs] if intent else [],
        "notes": list(plan.notes),
    }


def varied(plan: Plan) -> tuple[str, ...]:
    """The paths in which the configs of two arms differ, seeds aside, in alphabetical order."""
    found: set[str] = set()
    for task in plan.tasks:
        first, *others = (dict(flat(plan.train_config(a.id, task, 0, {}))) for a in plan.arms)
        for other in others:
            found |= {path for path in first.keys() | other if first.get(path) != other.get(path)}
    return tuple(sorted(found - {"seed"}))


def differing(plan: Plan, arm: str) -> dict[str, JsonValue]:
    """What an arm's trials are set to where arms differ, by path, on the first task."""
    config = dict(flat(plan.train_config(arm, plan.tasks[0], 0, {})))
    return {path: config.get(path) for path in varied(plan)}


def settings(plan: Plan) -> dict[str, JsonValue]:
    """Every setting of a trial of the control arm, by its path; the seed is the trial's own."""
    config = plan.train_config(plan.arms[0].id, plan.tasks[0], 0, {})
    values = {path: value for path, value in flat(config).items() if path != "seed"}
    return values | {f"task.args.{name}": value for name, value in config.task.args.items()}
