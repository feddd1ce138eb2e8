"""Which playbook answers a topic, and topics that none answers."""

import pytest
from support.plans import plan_for

from swarm.errors import Refusal


@pytest.mark.parametrize(
    "topic",
    [
        "best pizza in Rome",
        "",
        "   ",
        "???",
        "asdf",
        "temperature in Rome",
        "is attention all you need",
    ],
)
def test_nonsense_is_refused_with_a_next_step(topic: str) -> None:
    with pytest.raises(Refusal) as refused:
        plan_for(topic)
    assert refused.value.field == "topic"
    assert refused.value.next_step
    assert "\n" not in str(refused.value)


def test_a_topic_that_nothing_fits_names_the_nearest_playbooks() -> None:
    with pytest.raises(Refusal, match=r"nearest playbooks: learning-rate"):
        plan_for("lerning rate")
