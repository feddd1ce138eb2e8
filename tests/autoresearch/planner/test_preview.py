"""A plan as `start --dry-run --json` prints it."""

import json

from support.plans import plan_for

from autoresearch.planner.preview import preview


def test_preview_has_exactly_the_documented_keys() -> None:
    document = json.loads(json.dumps(preview(plan_for("does clip-higher stop entropy collapse"))))
    assert list(document) == [
        "study", "topic", "planner", "playbook", "question", "hypotheses", "factors", "arms",
        "tasks", "model", "seeds", "trials", "estimated_seconds", "budget",
        "registration", "data", "evaluation", "differs",
        "settings", "varied", "set", "left_aside", "repairs", "notes",
    ]  # fmt: skip
    assert list(document["hypotheses"][0]) == [
        "id", "metric", "arm", "versus", "direction", "min_effect",
    ]  # fmt: skip
    assert list(document["factors"][0]) == ["name", "role", "levels", "control"]
    assert list(document["arms"][0]) == ["id", "levels"]
    assert list(document["seeds"]) == ["tuning", "confirm"]
    assert document["study"].startswith("does-clip-higher-stop-entropy-collapse-")
