"""How long a plan takes."""

from support.plans import plan_for

from autoresearch.planner.preview import preview


def test_a_two_arm_quick_study_is_short() -> None:
    drafted = plan_for()
    assert preview(drafted)["trials"] <= 20
    assert len(drafted.seeds.confirm) >= 5
    assert drafted.estimated_trial_seconds <= 50
