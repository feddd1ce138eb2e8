"""The notes that the screen shows of a plan."""

import pytest
from support.synthetic_study import Shape, make_plan

from autoresearch.planner.notes import OVERRUN, POWER, PRESET, decisive
from autoresearch.planner.planning import plan_study
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.study.intent import Intent, Repair
from autoresearch.study.options import StartOptions

FILLED = (
    PRESET.format(kl=0.04),
    OVERRUN.format(arms=8, time="2 h 05 min", minutes=10, profile="quick"),
    POWER.format(seeds=5, effect=0.06, metric="eval/acc", power=0.8, sd=0.03, least=0.05),
)


def test_what_was_read_otherwise_is_one_note_before_time_and_power() -> None:
    repair = Repair(name="widen a range", about="learning_rate", note="a repair")
    asked = Intent(topic="t", playbook="p", left_aside=("left aside",), repairs=(repair,))
    standing = ("a trap", "a limit of the playbook")
    notes = ("left aside", FILLED[0], "a repair", *standing, *FILLED[1:], "known from study x")
    plan = make_plan(Shape()).model_copy(update={"notes": notes})
    read = f"left aside; {FILLED[0]}; a repair"
    assert decisive(plan, asked) == [read, *FILLED[1:]]
    assert decisive(plan) == [*FILLED]  # the plan of a file


@pytest.mark.parametrize(
    ("topic", "starts"),
    [
        ("does dividing by the group std matter in GRPO?", ["GRPO stands for", "5 seeds"]),
        ("GRPO vs RLOO vs REINFORCE++", ["5 seeds"]),
        ("how many gradient steps per batch", ["5 seeds"]),
    ],
)
def test_planned_notes_are_recognised(topic: str, starts: list[str]) -> None:
    drafted = plan_study(StartOptions(topic=topic), Library((("built-in", BUILT_IN),)))
    shown = decisive(drafted.plan, drafted.intent)
    assert [note[: len(start)] for note, start in zip(shown, starts, strict=True)] == starts
    assert len(drafted.plan.notes) > len(shown)
