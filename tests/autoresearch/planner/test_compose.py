"""Plans from playbooks, topics and options."""

import pytest
from support.plans import plan_for

from autoresearch.planner.preview import preview


def test_set_wins_over_the_playbook_and_stops_the_tuning() -> None:
    drafted = plan_for("group size 4 vs 16", set={"optim.lr": 5e-4, "steps": 33})
    assert (drafted.train.optim.lr, drafted.train.steps) == (5e-4, 33)
    assert drafted.tuning is None
    assert any("or --set fixes it" in note for note in drafted.notes)
    chain = plan_for("length bias of GRPO", set={"sampling.max_tokens": 24})
    assert chain.train_config(chain.arms[0].id, "chain", 0, {}).sampling.max_tokens == 24


def test_a_rate_typed_in_the_topic_is_not_tuned_away() -> None:
    drafted = plan_for("does the group size matter at lr 1e-4?")
    assert drafted.tuning is None
    arm = drafted.arms[0].id
    assert drafted.train_config(arm, "reverse", 0, {}).optim.lr == 1e-4


@pytest.mark.parametrize("profile", ["smoke", "quick", "full"])
def test_every_builtin_playbook_has_every_profile(profile: str) -> None:
    for topic in ("how noisy are my RL runs", "GRPO vs RLOO", "length bias of GRPO"):
        drafted = plan_for(topic, profile=profile)
        assert drafted.profile == profile
        assert len(drafted.seeds.confirm) == drafted.decision.looks[-1]
        assert drafted.decision.exploratory <= (profile != "full")


def test_equal_input_gives_equal_plans_and_other_seeds_other_studies() -> None:
    topic = "best lora rank for RL"
    assert plan_for(topic) == plan_for(topic)
    assert preview(plan_for(topic))["study"] != preview(plan_for(topic, seed=1))["study"]
