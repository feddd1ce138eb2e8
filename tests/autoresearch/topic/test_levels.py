"""Numbers and bare values go to the factor that they stand by, and to no other."""

import pytest
from support.plans import intent_for

from swarm.config.base import JsonValue
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("learning rate sweep 1e-6 3e-6 1e-5 for GRPO", {"learning_rate": (1e-6, 3e-6, 1e-5)}),
        ("learning rate 3×10^-4 vs 10⁻³", {"learning_rate": (3e-4, 1e-3)}),
        ("lr 1e-4...1e-2", {"learning_rate": (1e-4, 1e-2)}),
        ("group size 2^2 vs 2^4", {"group_size": (4, 16)}),
        ("lr 1E-4 vs 3E-4", {"learning_rate": (1e-4, 3e-4)}),
        ("sweep lr over {1e-5, 3e-5, 1e-4}", {"learning_rate": (1e-5, 3e-5, 1e-4)}),
        ("lr in [1e-5, 1e-4]", {"learning_rate": (1e-5, 1e-4)}),
        ("lr: 1e-4/1e-3", {"learning_rate": (1e-4, 1e-3)}),
        ("batch size 1,024 vs 2,048", {"batch_size": (1024, 2048)}),
        ("batch size 64,128,256", {"batch_size": (64, 128, 256)}),
        ("is a batch of 64 rollouts enough, or do we need 256?", {"batch_size": (64, 256)}),
        ("entropy bonus -0.01 vs 0.01", {"entropy_bonus": (-0.01, 0.01)}),
        ("lr 10% vs 1%", {"learning_rate": (0.1, 0.01)}),
        ("rank-8 vs rank-64", {"lora_rank": (8, 64)}),
        ("group size 4→16", {"group_size": (4, 16)}),
        ("groups of 4 vs groups of 16", {"group_size": (4, 16)}),
        ("4 vs. 16 rollouts per prompt", {"group_size": (4, 16)}),
        ("rloo k=4 vs k=8", {"group_size": (4, 8)}),
        ("0, 20 or 200 SFT steps before RL", {"sft_warmup": (0, 20, 200)}),
        ("SFT for 0, 50, 100 steps and then RL", {"sft_warmup": (0, 50, 100)}),
        ("20 SFT steps vs none before GRPO", {"sft_warmup": (20, 0)}),
        ("lr warmup of 10 steps or none", {"lr_warmup": (10, 0)}),
        ("off-policy by 4 steps vs on-policy", {"staleness": (4, 0)}),
        ("sync vs async training", {"staleness": (0,)}),
        ("2 epochs per batch vs 1", {"updates_per_batch": (2, 1)}),
        ("two or four updates per batch", {"updates_per_batch": (2, 4)}),
        ("temperature 0.7 rollouts vs temperature 1.0 rollouts", {"temperature": (0.7, 1.0)}),
        ("does temperature 1.2 collapse entropy?", {"temperature": (1.2,)}),
        ("is 0.6 a better temperature than 1.0?", {"temperature": (0.6, 1.0)}),
        ("what happens when clip-higher goes from 0.2 to 0.3", {"clip_higher": (0.2, 0.3)}),
        ("baseline none vs group", {"baseline": ("none", "group")}),
        ("TIS vs none", {"correction": ("tis", "none")}),
        ("dynamic sampling on vs off", {"difficulty_filter": ("resample", "none")}),
        ("Does DAPO's dynamic sampling help GRPO?", {"difficulty_filter": ("resample",)}),
        ("GRPO v. RLOO", {"algorithm": ("grpo", "rloo")}),
        ("seed variance of GRPO vs PPO", {"algorithm": ("grpo", "ppo")}),
        (
            "is clip-higher 0.28 any good if we take one update per batch?",
            {"clip_higher": (0.28,), "updates_per_batch": (1,)},
        ),
        ("curriculum vs no curriculum", {"curriculum": ("uniform",)}),
        ("1) group size 4 2) group size 16", {"group_size": (4, 16)}),
        ("baseline: GRPO. Treatment: GRPO + entropy bonus 0.01", {"entropy_bonus": (0.01,)}),
        ("control lr 1e-3; treatment lr 1e-4", {"learning_rate": (1e-3, 1e-4)}),
        ("forward vs reverse KL", {"kl_estimator": ("forward", "reverse")}),
        ("KL in loss vs in reward", {"kl_placement": ("loss", "reward")}),
        (
            "token-level vs sequence-level loss",
            {"loss_aggregation": ("token_mean", "sequence_mean")},
        ),
        ("dense vs sparse reward", {"reward_shaping": ("partial", "exact")}),
        ("whitening: group vs batch std", {"advantage_std": ("group_std", "batch_std")}),
        ("LoRA on attention vs mlp", {"lora_targets": ("attention", "mlp")}),
        ("constant lr vs cosine vs linear", {"lr_schedule": ("constant", "cosine", "linear")}),
        (
            "lr {1e-4,1e-3} × G {4,16}",
            {"learning_rate": (1e-4, 1e-3), "group_size": (4, 16)},
        ),
        ("with vs without KL", {"kl_coef": ()}),
        ("GRPO with or without std", {"advantage_std": ()}),
    ],
)
def test_levels_of_factors(topic: str, expected: dict[str, tuple[JsonValue, ...]]) -> None:
    assert {f.name: f.levels for f in intent_for(topic).factors} == expected


@pytest.mark.parametrize(
    ("topic", "factor", "held"),
    [
        ("GRPO vs RLOO, lr 1e-5", "algorithm", {"learning_rate": 1e-5}),
        ("GRPO vs RLOO without KL", "algorithm", {"kl_coef": 0.0}),
        ("lr 1e-6 vs 1e-5 with G=16 and temperature 0.8", "learning_rate",
         {"group_size": 16, "temperature": 0.8}),
        ("does GRPO with group size 8 and lr 2e-5 need a KL penalty?", "kl_coef",
         {"group_size": 8, "learning_rate": 2e-5}),
        ("rank=8, alpha=16, lr=1e-4 vs rank=8, alpha=16, lr=1e-3", "learning_rate",
         {"lora_rank": 8, "lora_alpha": 16.0}),
        ("max staleness 1, 2, 4 with TIS", "staleness", {"correction": "tis"}),
        ("batch.group_size 4 vs 8, optim.lr=1e-4", "group_size", {"learning_rate": 1e-4}),
        ("does KL in the reward beat KL in the loss at beta 0.05?", "kl_placement",
         {"kl_coef": 0.05}),
    ],
)  # fmt: skip
def test_one_level_beside_a_comparison_is_held(
    topic: str, factor: str, held: dict[str, JsonValue]
) -> None:
    intent = intent_for(topic)
    assert ([f.name for f in intent.factors], dict(intent.held)) == ([factor], held)


@pytest.mark.parametrize(
    ("topic", "number"),
    [
        ("group size 4 vs 16 in 2025", "2025"),
        ("group size matters in production with 500", "500"),
        ("group size 4 vs 16 and 37 parsnips", "37 parsnips"),
        ("lr 1e-4 vs 1e-3 with effect size 0.1", "0.1"),
        ("95% confidence: lr 1e-4 vs 1e-3", "95% confidence"),
        ("how many seeds do I need to detect 3%", "3%"),
        ("does GRPO need 16 generations?", "16 generations"),
        ("does clip-higher keep entropy above 0.5?", "0.5"),
        ("train on 1 prompt vs 64 prompts", "1 prompt"),
        ("data mixture 50/50 math and code", "50"),
        ("can we reuse each batch 4 times instead of once?", "4 times"),
        ("KL=0 & entropy=0.01 vs KL=0.1 & entropy=0", "0.01"),
        ("batch of 8 prompts x 16 rollouts", "8 prompts"),
        ("significance level 0.01, lr 1e-3 vs 1e-4", "0.01"),
        ("GRPO with 16 vs 4 generations and lr 3e-4", "16"),
        ("response length 256 vs 512", "256"),
        ("group size 4 vs 16 by 71%", "71%"),
    ],
)
def test_a_number_that_is_nobodys_refuses_the_topic(topic: str, number: str) -> None:
    with pytest.raises(Refusal, match=number):
        intent_for(topic)
