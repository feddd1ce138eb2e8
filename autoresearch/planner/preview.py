"""A plan as `start --dry-run --json` prints it, and the study id that goes with it."""

import re
from typing import Any

from autoresearch.design.cost import trial_counts
from autoresearch.study.plan import Plan
from swarm.config.base import canonical_digest

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


def preview(plan: Plan) -> dict[str, Any]:
    """The JSON document of a plan that has not started."""
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
        "notes": list(plan.notes),
    }
