"""Which factors a topic puts under test, and at which levels."""

import pytest
from support.plans import plan_for

from autoresearch.catalogue.advantages import RL_PRESETS
from swarm.config.train import TrainConfig


@pytest.mark.parametrize(
    ("topic", "factor", "levels"),
    [
        ("GRPO vs RLOO vs REINFORCE++", "algorithm", {"grpo", "rloo", "reinforce_pp"}),
        ("GRPO, RLOO", "algorithm", {"grpo", "rloo"}),
        ("is GSPO better than GRPO?", "algorithm", {"grpo", "gspo"}),
        ("does PPO beat GRPO or DAPO?", "algorithm", {"grpo", "ppo", "dapo"}),
        ("does TIS help under staleness?", "correction", {"none", "tis"}),
        ("does dynamic sampling help?", "difficulty_filter", {"none", "resample"}),
        ("dr.grpo or grpo", "algorithm", {"grpo", "dr_grpo"}),
        ("is group size 16 better than 4 at the same rollouts", "group_size", {4, 16}),
        ("does group size 4 help?", "group_size", {8, 4}),
        ("lr 1e-3 vs 1e-4", "learning_rate", {1e-3, 1e-4}),
        ("rank 1, 8 and 64", "lora_rank", {1, 8, 64}),
        ("0/50/200 SFT steps", "sft_warmup", {0, 50, 200}),
        ("16 vs 4 completions per prompt", "group_size", {4, 16}),
        (
            "whitening of advantages: group vs batch std",
            "advantage_std",
            {"group_std", "batch_std"},
        ),
        ("LoRA vs full fine-tuning", "full_weights", {"lora", "full"}),
        ("does lr 3e-4 beat 2e-3 with 10 seeds?", "learning_rate", {3e-4, 2e-3}),
        ("group size 16 vs 4 at 256 rollouts", "group_size", {4, 16}),
    ],
)
def test_levels_typed_in_the_topic_are_the_arms(
    topic: str, factor: str, levels: set[object]
) -> None:
    (treatment,) = plan_for(topic).treatments
    assert treatment.name == factor
    assert set(treatment.levels) == levels


def test_two_factors_make_a_full_factorial() -> None:
    drafted = plan_for("learning rate 1e-3 vs 3e-4 and batch size 64 vs 128")
    assert {tuple(arm.levels.values()) for arm in drafted.arms} == {
        (1e-3, 64),
        (1e-3, 128),
        (3e-4, 64),
        (3e-4, 128),
    }
    assert drafted.tuning is None


@pytest.mark.parametrize("name", RL_PRESETS)
def test_every_preset_can_be_an_arm(name: str) -> None:
    """With its own `data`, and the one KL coefficient of the study."""
    topic = f"GRPO vs {name.replace('_', ' ')}".replace("default", "the default recipe")
    drafted = plan_for(topic if name != "grpo" else "GRPO vs RLOO")
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    (found,) = [config for config in configs if config.algorithm.name == name]
    assert found.algorithm.kl_coef == 0
    wanted = TrainConfig().with_values({"algorithm.name": name, "algorithm.kl_coef": 0.0})
    assert (found.algorithm, found.data) == (wanted.algorithm, wanted.data)


def test_a_correction_is_studied_on_stale_rollouts() -> None:
    for topic in ("does TIS help under staleness?", "does TIS help?"):
        drafted = plan_for(topic)
        configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
        assert [c.max_staleness for c in configs] == [4, 4]
        assert [c.algorithm.correction.kind for c in configs] == ["none", "tis"]
        assert [c.algorithm.anchor for c in configs] == ["sampler", "batch_start"]


def test_a_factor_held_fixed_leaves_its_playbook() -> None:
    drafted = plan_for("does clip-higher keep entropy up with 2 updates per batch?")
    assert [f.name for f in drafted.treatments] == ["clip_higher"]
    assert drafted.train.batch.epochs == 2
    assert [h.metric for h in drafted.hypotheses] == ["policy/entropy"]
