"""What a plan holds fixed in every arm."""

from support.plans import plan_for


def test_what_the_topic_holds_fixed_is_fixed_and_said() -> None:
    drafted = plan_for("does the learning rate matter with group size 4 at 256 rollouts?")
    assert [f.name for f in drafted.treatments] == ["learning_rate"]
    assert (drafted.train.batch.group_size, drafted.train.batch.rollouts) == (4, 256)
    assert any("batch.group_size 4" in note for note in drafted.notes)


def test_a_requirement_is_repaired_and_said() -> None:
    drafted = plan_for("does the clip range matter?")
    assert drafted.train.batch.epochs == 4
    assert any("batch.epochs 4" in note for note in drafted.notes)
    assert plan_for("k2 or k3 as KL loss?").train.algorithm.kl_coef > 0


def test_estimators_share_one_kl_coefficient() -> None:
    drafted = plan_for("GRPO vs RLOO vs REINFORCE++")
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    assert [c.algorithm.name for c in configs] == ["grpo", "rloo", "reinforce_pp"]
    assert {c.algorithm.kl_coef for c in configs} == {0.0}
    changed = plan_for("GRPO vs RLOO", set={"algorithm.kl_coef": 0.02})
    assert {
        changed.train_config(arm.id, "reverse", 0, {}).algorithm.kl_coef for arm in changed.arms
    } == {0.02}


def test_a_filter_that_the_user_fixes_holds_in_every_arm() -> None:
    drafted = plan_for("GRPO vs DAPO", set={"data.group_filter": "mixed_rewards"})
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    assert {config.data.group_filter for config in configs} == {"mixed_rewards"}


def test_group_sizes_that_do_not_divide_the_rollouts_move_them() -> None:
    drafted = plan_for("6 or 12 samples per prompt")
    assert drafted.train.batch.rollouts % 12 == 0
    assert {
        drafted.train_config(arm.id, "reverse", 0, {}).batch.rollouts for arm in drafted.arms
    } == {drafted.train.batch.rollouts}
