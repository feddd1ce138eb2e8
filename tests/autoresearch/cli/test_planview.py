"""The plan as text."""

import pytest
from support.commands import text_of
from support.synthetic_study import STUDY, Shape, make_plan

from autoresearch.cli import planview


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(45, "45 s"), (95, "95 s"), (480, "8 min"), (7500, "2 h 05 min"), (97_200, "27 h 00 min")],
)
def test_durations(seconds: float, expected: str):
    assert planview.duration(seconds) == expected


@pytest.mark.parametrize("width", [80, 120])
def test_the_plan_names_what_will_happen(width: int):
    plan = make_plan(Shape(length_hypothesis=True))
    shown = " ".join(text_of(planview.render(plan, STUDY, "/home/me/runs/x"), width).split())
    for expected in (
        plan.question,
        *(h.statement for h in plan.hypotheses),
        *(arm.id for arm in plan.arms),
        "adv_std: group, none; control group",
        "3 pilot (A/A), 1 tuning × 3 values of optim.lr, 5 confirmation per arm",
        "19 of about 38 s each, about 7 min in all",
        "/home/me/runs/x",
    ):
        assert expected in shown
