"""What a topic claims is what is tested."""

from support.plans import plan_for


def test_a_claim_of_the_topic_is_the_hypothesis() -> None:
    (h,) = plan_for("is group size 16 better than 4 at the same rollouts").hypotheses
    assert (h.arm, h.versus, h.direction) == ("group_size-16", "group_size-4", "greater")


def test_a_metric_named_in_the_topic_is_measured() -> None:
    drafted = plan_for("does weight decay change policy entropy?")
    assert {h.metric for h in drafted.hypotheses} == {"policy/entropy"}
    assert drafted.tuning is None
