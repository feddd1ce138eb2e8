"""A plan file with one edit is registered as edited, or refused by the field."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support.plans import plan_for

from autoresearch.planner.plan_file import read_plan, write_plan
from swarm.errors import Refusal

PLAN = plan_for("group size 4 vs 16")


def edited(path: Path, where: str, value: Any) -> Path:
    """The plan's file with one value replaced."""
    write_plan(path, PLAN)
    document = YAML(typ="safe").load(path)
    *parents, last = [int(step) if step.isdigit() else step for step in where.split(".")]
    place = document
    for step in parents:
        place = place[step]
    place[last] = value
    with path.open("w") as file:
        YAML(typ="safe").dump(document, file)
    return path


def test_as_it_was_written(tmp_path: Path) -> None:
    write_plan(tmp_path / "plan.yaml", PLAN)
    assert read_plan(tmp_path / "plan.yaml") == PLAN


@pytest.mark.parametrize(
    ("where", "value", "problem"),
    [
        ("hypotheses.0.min_effect", float("inf"), "min_effect"),
        ("tuning.high", float("inf"), "tuning.high"),
        ("decision.floor", float("nan"), "decision.floor"),
        ("budget.trial_seconds", float("inf"), "budget.trial_seconds"),
        ("estimated_seconds", float("nan"), "estimated_seconds"),
        ("estimated_trial_seconds", -1.0, "estimated_trial_seconds"),
        ("factors.0.levels", [float("nan"), 4, 16], "finite"),
        ("model", "smollm2-135m-instruct", "is not train.model.ref tiny"),
        ("seeds.confirm.0", -5, "seeds.confirm"),
        ("seeds.confirm.0", 2**31, "seeds.confirm"),
        (
            "arms",
            [*PLAN.model_dump(mode="json")["arms"], {"id": PLAN.arms[0].id, "levels": {}}],
            "twice",
        ),
        ("arms.1.id", "../../evil", "arms"),
        ("hypotheses.0.id", "", "hypotheses"),
        ("arms.1.levels.group_size", 5, "not one of its levels"),
        ("arms.1.levels.other", 5, "not under test"),
        ("factors.0.levels", [8], "arm"),
        ("factors.0.sets", [], "in no arm"),
        ("factors.0.sets", ["policy.rank"], "in no arm"),
        ("factors.0.sets", ["batch.group_size", "seed"], "the plan names itself"),
        ("tasks", ["reverse", "reverse"], "there twice"),
        ("task_settings", {"reverse": {"model.ref": "x"}}, "the plan names itself"),
        ("task_settings", {"sort": {"optim.lr": 1e-3}}, "not one of the tasks"),
        ("tuning.path", "seed", "the plan names itself"),
        ("tuning.path", "optim.grad_clip", "what is tuned"),
        ("decision.looks", [5, 5], "do not rise"),
        ("decision.looks", [5, 3], "do not rise"),
        ("metrics", ["nope"], "unknown metric"),
        ("topic", "  ", "topic"),
        ("topic", "\ud800 x", "plan"),
        ("unheard", 1, "unheard"),
    ],
)
def test_an_edit_that_no_study_can_follow(
    tmp_path: Path, where: str, value: Any, problem: str
) -> None:
    try:
        path = edited(tmp_path / "plan.yaml", where, value)
    except UnicodeEncodeError:
        path = tmp_path / "plan.yaml"
        path.write_text(path.read_text().replace(PLAN.topic, r'"\ud800 x"'))
    with pytest.raises(Refusal, match=problem) as end:
        read_plan(path)
    assert "\n" not in str(end.value)


@pytest.mark.parametrize(
    ("where", "value"),
    [("hypotheses.0.min_effect", 0.1), ("decision.power", 0.9), ("train.optim.grad_clip", 0.5)],
)
def test_an_edit_that_a_study_can_follow(tmp_path: Path, where: str, value: Any) -> None:
    plan: Any = read_plan(edited(tmp_path / "plan.yaml", where, value)).model_dump(mode="json")
    for step in where.split("."):
        plan = plan[int(step) if step.isdigit() else step]
    assert plan == value
