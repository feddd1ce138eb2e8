"""From topics to plans, as a new user would type them."""

from support.plans import plan_for


def test_a_reward_picks_a_task_that_offers_it() -> None:
    assert plan_for("is a proxy reward hacked?").tasks == ("order",)


def test_a_task_named_in_the_topic_or_by_the_user_is_the_task() -> None:
    assert plan_for("does std matter on the sort task?").tasks == ("sort",)
    assert plan_for("does std matter on the sort task?", task="order").tasks == ("order",)
