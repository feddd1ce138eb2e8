"""The plan as text."""

import pytest
from support.commands import text_of
from support.synthetic_study import STUDY, Shape, make_plan

from autoresearch.cli import planview
from autoresearch.planner.notes import POWER


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


def test_the_screen_has_the_notes_that_matter_before_the_start() -> None:
    power = POWER.format(seeds=5, effect=0.06, metric="m", power=0.8, sd=0.03, least=0.05)
    plan = make_plan(Shape()).model_copy(update={"notes": ("a standing remark", power)})
    shown = " ".join(text_of(planview.render(plan, None, None)).split())
    assert power in shown
    assert "a standing remark" not in shown
