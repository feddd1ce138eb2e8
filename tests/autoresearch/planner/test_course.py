"""What a topic names beside settings, under the options of `start`."""

import pytest
from support.plans import intent_for, plan_for

from autoresearch.planner.course import refuse_too_long
from swarm.errors import Refusal


def test_answers_must_leave_a_place_in_the_models_context() -> None:
    refuse_too_long("tiny", [255, 12, "none"])
    refuse_too_long("org/not-here-yet", [10**6])
    with pytest.raises(Refusal, match="256 tokens do not fit tiny, whose context is 256"):
        refuse_too_long("tiny", [12, 256])


def test_an_option_wins_over_the_topic_and_that_is_said() -> None:
    plan = plan_for("lr 1e-4 vs 1e-3 on sort", task="order")
    assert plan.tasks == ("order",)
    assert any("sort" in note and "order" in note for note in plan.notes)


def test_two_measures_of_one_k_are_one_evaluation() -> None:
    asked = intent_for("lr 1e-4 vs 1e-3 by pass@8 and avg@8")
    assert [each.k for each in asked.evaluation] == [8]
    assert asked.metric == "eval/held-out/pass@8"
    assert any("avg@8 is logged" in note for note in asked.left_aside)
