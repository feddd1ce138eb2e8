"""A scaffold is a playbook that makes the study it was written from."""

from pathlib import Path

import pytest

from autoresearch.planner.lint_playbook import lint, own_plan
from autoresearch.planner.planning import plan_study
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.playbook.scaffold import scaffold
from autoresearch.study.options import StartOptions


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library((("project", tmp_path), ("built-in", BUILT_IN)))


@pytest.mark.parametrize(
    "topic",
    [
        "is lr 1e-5 or 3e-3 better with group size 4?",
        "GRPO vs RLOO",
        "length bias of GRPO",
        "is a proxy reward hacked?",
        "LoRA vs full fine-tuning",
        "6 or 12 samples per prompt",
    ],
)
def test_a_scaffold_lints_clean_and_makes_the_same_study(
    tmp_path: Path, library: Library, topic: str
) -> None:
    plan = plan_study(StartOptions(topic=topic), library).plan
    parent = library.load(plan.playbook)
    path = tmp_path / "mine.yaml"
    path.write_text(scaffold("mine", parent, plan, own_plan(parent, "quick")))
    assert lint(path, library) == []
    again = own_plan(library.load("mine"), "quick")
    assert again.arms == plan.arms
    assert again.train == plan.train
    assert [h.model_dump() for h in again.hypotheses] == [h.model_dump() for h in plan.hypotheses]
