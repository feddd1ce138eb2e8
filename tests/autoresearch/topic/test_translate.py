"""Settings of TRL, verl, OpenRLHF, prime-rl and Tinker, in the catalogue's words or refused."""

import pytest
from support.plans import intent_for

from swarm.config.base import JsonValue
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "factor", "levels"),
    [
        ('scale_rewards=False vs "batch"', "advantage_std", ("none", "batch_std")),
        ("scale_rewards True vs False", "advantage_std", ("group_std", "none")),
        (
            "loss_type=grpo|dr_grpo|dapo",
            "loss_aggregation",
            ("sequence_mean", "fixed_length", "token_mean"),
        ),
        ("beta=0.04 vs beta=0", "kl_coef", (0.04, 0.0)),
        ("DPO beta 0.1 vs 0.5", "algorithm.beta", (0.1, 0.5)),
        ("kl_loss_coef 0.001 vs 0", "kl_coef", (0.001, 0.0)),
        ("use_kl_loss=True vs False", "kl_coef", (0.001, 0.0)),
        ("use_kl_in_reward=True vs use_kl_loss=True", "kl_placement", ("reward", "loss")),
        ("rollout.n 8 vs 16", "group_size", (8, 16)),
        ("actor_rollout_ref.rollout.n=4 vs 8", "group_size", (4, 8)),
        ("num_generations 8 vs 16", "group_size", (8, 16)),
        ("importance_sampling_level=sequence vs token", "algorithm.ratio", ("sequence", "token")),
        ("num_iterations 1 vs 4", "updates_per_batch", (1, 4)),
        ("ppo_epochs 1 vs 4", "updates_per_batch", (1, 4)),
        ("epsilon 0.1 vs 0.2", "clip_range", (0.1, 0.2)),
        ("epsilon_high 0.2 vs 0.28", "clip_higher", (0.2, 0.28)),
        ("clip_ratio_low 0.1 vs 0.2", "algorithm.clip_low", (0.1, 0.2)),
        ("cliprange 0.1 vs 0.2", "clip_range", (0.1, 0.2)),
        ("eps_clip 0.1 vs 0.3", "clip_range", (0.1, 0.3)),
        (
            "loss_agg_mode token-mean vs seq-mean-token-sum-norm",
            "loss_aggregation",
            ("token_mean", "fixed_length"),
        ),
        ("adv_estimator=grpo vs adv_estimator=rloo", "algorithm", ("grpo", "rloo")),
        ("algorithm.adv_estimator gae vs grpo", "algorithm", ("ppo", "grpo")),
        ("norm_adv_by_std_in_grpo True or False", "advantage_std", ("group_std", "none")),
        ("entropy_coeff 0 vs 0.001", "entropy_bonus", (0.0, 0.001)),
        ("max_completion_length 16 vs 32", "max_length", (16, 32)),
        ("n_samples_per_prompt 8 vs 16", "group_size", (8, 16)),
        ("init_kl_coef 0 vs 0.01", "kl_coef", (0.0, 0.01)),
        ("advantage_estimator=reinforce vs group_norm", "algorithm", ("reinforce_pp", "grpo")),
        ("lora_r 8 vs 64", "lora_rank", (8, 64)),
        ("lora_alpha=16 vs 64", "lora_alpha", (16.0, 64.0)),
        ("learning_rate=1e-5 vs 1e-4", "learning_rate", (1e-5, 1e-4)),
        ("lr_scheduler_type constant vs cosine", "lr_schedule", ("constant", "cosine")),
        ("max_async_level 1 vs 4", "staleness", (1, 4)),
        ("async_level 0 vs 2", "staleness", (0, 2)),
        ("temperature=0.6 vs 1.0", "temperature", (0.6, 1.0)),
        ("max_grad_norm 0.2 vs 1.0", "grad_clip", (0.2, 1.0)),
        ("gamma 0.99 vs 1.0 in PPO", "algorithm.value.gamma", (0.99, 1)),
        ("gae lambda 0.95 vs 1", "algorithm.value.lam", (0.95, 1)),
        ("lam=0.95 vs lam=1.0 for PPO", "algorithm.value.lam", (0.95, 1)),
        ("kl_loss_type low_var_kl vs k2", "kl_estimator", ("forward", "reverse")),
        ("filter_groups.enable True vs False", "difficulty_filter", ("resample", "none")),
        ("vllm_importance_sampling_correction=True vs False", "correction", ("tis", "none")),
        ("SFT lr 1e-4 vs 1e-3 with 20 SFT steps", "warmup.lr", (1e-4, 1e-3)),
        ("value head lr 1e-3 vs 1e-2 in PPO", "algorithm.value.head_lr", (1e-3, 1e-2)),
        ("Adam eps 1e-8 vs 1e-5", "optim.eps", (1e-8, 1e-5)),
        ("soft overlong punishment", "algorithm.overlong_buffer", (0, 0.2)),
        ("optim.eps=1e-8 vs optim.eps=1e-5", "optim.eps", (1e-8, 1e-5)),
        ("PPO with value head vs group baseline", "baseline", ("value", "group")),
    ],
)
def test_a_setting_of_another_trainer_is_a_factor_with_its_values(
    topic: str, factor: str, levels: tuple[JsonValue, ...]
) -> None:
    intent = intent_for(topic)
    assert [(f.name, f.levels) for f in intent.factors] == [(factor, levels)]


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("mask_truncated_completions: should overlong answers be masked?", ("mask_truncated",)),
        ("mask_truncated_completions=True vs False", ("mask_truncated", "overlong_buffer")),
        ("loss_type bnpo vs dr_grpo", ("bnpo", "dapo")),
        ("loss_type=cispo vs grpo", ("cispo",)),
        ("loss_agg_mode=seq-mean-token-sum vs token-mean", ("seq-mean-token-sum-norm",)),
        ("adv_estimator=remax", ("remax",)),
        ("adv_estimator=magic vs grpo", ("magic", "rloo")),
        ("advantage_estimator reinforce_baseline vs rloo", ("reinforce_baseline",)),
        ("lr_scheduler_type=polynomial vs linear", ("polynomial", "cosine")),
        ("kl_loss_type=kl", ("kl", "low_var_kl")),
        ("kl_estimator k1 vs k3", ("k1",)),
        ("k1 vs k3", ("k1",)),
        ("ppo_mini_batch_size 64 vs 256", ("ppo_mini_batch_size", "minibatches 1 vs 4")),
        ("minibatch size 32 vs 64", ("minibatch size", "minibatches")),
        ("GRPO vs PPO with minibatch 16", ("minibatch", "minibatches 1 vs 4")),
        ("train_batch_size 64 vs 128", ("train_batch_size", "rollouts per batch")),
        ("prompts per batch 16 vs 32", ("prompts per batch", "rollouts per batch")),
        ("per_device_train_batch_size 4 vs 8", ("per_device_train_batch_size",)),
        ("gradient accumulation steps 1 vs 8", ("gradient accumulation steps",)),
        ("max_prompt_length 512 vs 1024", ("max_prompt_length",)),
        ("warmup_ratio 0 vs 0.1", ("warmup_ratio", "steps")),
        ("top_p 0.9 vs 1", ("top_p",)),
        ("top-p 0.9 at rollout with group size 4 vs 8", ("top-p",)),
        ("top_k=50", ("top_k",)),
        ("vf_coef 0.1 vs 0.5", ("vf_coef",)),
        ("reward_weights 0.5 vs 1", ("reward_weights", "--reward")),
        ("overlong_buffer.len 512 vs 1024", ("overlong_buffer.len", "share")),
        ("LoRA dropout 0 vs 0.1", ("dropout",)),
        ("gamma 0.9 vs 1 in GRPO", ("algorithm.value.gamma", "GRPO", "PPO")),
        ("foo_bar 3 vs 4", ("foo_bar",)),
        ("SFT lr 1e-4 vs 1e-3", ("warmup.lr", "sft_warmup", "20 SFT steps")),
        ("optim.lrr 1e-4 vs 1e-3", ("optim.lrr", "did you mean optim.lr")),
    ],
)
def test_a_setting_or_value_without_counterpart_is_refused_by_name(
    topic: str, names: tuple[str, ...]
) -> None:
    with pytest.raises(Refusal) as refused:
        intent_for(topic)
    assert refused.value.field == "topic"
    for name in names:
        assert name in str(refused.value)


def test_a_setting_beside_what_is_compared_is_held() -> None:
    asked = intent_for("use_kl_loss=True, kl_loss_coef=0.001: lr 1e-6 vs 1e-5")
    assert [f.name for f in asked.factors] == ["learning_rate"]
    assert asked.held == {"kl_coef": 0.001}
    clipped = intent_for("clip_ratio_low=0.2 clip_ratio_high 0.2 vs 0.28")
    assert clipped.held == {"algorithm.clip_low": 0.2}


def test_a_setting_of_one_algorithm_implies_it() -> None:
    asked = intent_for("gae lambda 0.95 vs 1")
    assert asked.algorithm == "ppo"
    assert "belongs to PPO" in asked.left_aside[0]
