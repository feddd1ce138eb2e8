"""Seeds, steps, time and precision that a topic asks for are part of the study, or refuse it."""

import pytest
from support.plans import intent_for

from autoresearch.study.intent import Intent
from swarm.errors import Refusal


def said(topic: str) -> dict[str, object]:
    """What a topic says besides factors and levels."""
    intent: Intent = intent_for(topic)
    named = {"seeds", "seed", "steps", "budget_seconds", "eval_every", "held"}
    return {name: value for name, value in intent.model_dump(include=named).items() if value}


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("temperature 0.6 vs 1.0, 10 seeds each", {"seeds": 10}),
        ("lr=1e-4 or lr=1e-3, n=5 seeds", {"seeds": 5}),
        ("three seeds per arm: rank 4 vs 16", {"seeds": 3}),
        ("lr 1e-4 vs 1e-3 over 5 random seeds", {"seeds": 5}),
        ("10 seeds: does the KL penalty matter?", {"seeds": 10}),
        ("noise floor over 20 seeds", {"seeds": 20}),
        ("A/A test with 10 seeds", {"seeds": 10}),
        ("lr 1e-4 vs 1e-3 with seed 42", {"seed": 42}),
        ("KL 0 vs 0.05 in 8 steps", {"steps": 8}),
        ("clip higher 0.2 vs 0.28 for 200 steps", {"steps": 200}),
        ("staleness 0 vs 4 with 300 training steps", {"steps": 300}),
        ("sft warmup 0 vs 20 steps, 100 RL steps", {"steps": 100}),
        ("does 20 steps of SFT help for 200 steps of RL?", {"steps": 200}),
        ("lora rank 8 vs 32 within 2 hours", {"budget_seconds": 7200}),
        ("does the curriculum help? 5 minutes", {"budget_seconds": 300}),
        ("entropy bonus 0 vs 0.01, budget 3h", {"budget_seconds": 10800}),
        ("lr 1e-4 vs 1e-3 in under 30 min", {"budget_seconds": 1800}),
        ("a 30 minute budget: KL 0 vs 0.05", {"budget_seconds": 1800}),
        ("lr 1e-4 vs 1e-3 for half an hour", {"budget_seconds": 1800}),
        ("lr 1e-4 vs 1e-3, 50 steps, 1 hour", {"steps": 50, "budget_seconds": 3600}),
        (
            "lr 1e-4 vs 1e-3, at most 90 minutes, 6 seeds",
            {"seeds": 6, "budget_seconds": 5400},
        ),
        (
            "group size 4 vs 16, lr 1e-4, 200 steps, seed 7",
            {"steps": 200, "seed": 7, "held": {"learning_rate": 1e-4}},
        ),
        (
            "GRPO μ=1 vs μ=4, G=8, lr=1e-4, 100 steps, 5 seeds",
            {"steps": 100, "seeds": 5, "held": {"group_size": 8, "learning_rate": 1e-4}},
        ),
        ("lr 1e-4 vs 1e-3 in bf16", {"held": {"model.dtype": "bfloat16"}}),
        ("group size 4 vs 16 with 64 token answers", {"held": {"max_length": 64}}),
    ],
)
def test_the_course_of_a_study(topic: str, expected: dict[str, object]) -> None:
    assert said(topic) == expected


@pytest.mark.parametrize(
    "topic",
    [
        "GRPO vs RLOO at equal steps",
        "GRPO vs PPO with equal rollouts",
        "GRPO vs RLOO at the same number of steps",
        "group size 8 vs 2 with the same number of rollouts",
        "group size 8 vs 2 at fixed rollouts",
    ],
)
def test_arms_are_compared_at_equal_steps_and_rollouts(topic: str) -> None:
    intent = intent_for(topic)
    assert [factor.name for factor in intent.factors] in (["algorithm"], ["group_size"])
    assert intent.left_aside == ()


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("group size 4 vs 16 at equal wall-clock", "equal wall-clock"),
        ("GRPO vs RLOO with equal tokens", "equal tokens"),
        ("G=2 or G=16 at equal compute?", "equal compute"),
        ("GRPO vs PPO under a fixed token budget", "fixed token budget"),
        ("LoRA vs full fine-tuning at matched FLOPs", "matched FLOPs"),
        ("batch size 64 vs 256 at equal rollouts", "cannot have equal rollouts"),
        ("batch size 64 vs 256 at equal samples", "cannot have equal rollouts"),
        ("1 vs 4 updates per batch at equal optimizer steps", "cannot have equal updates"),
        ("lr 1e-4 vs 1e-3 with seeds 0, 1, 2", "seeds 0, 1, 2"),
        ("lr 1e-4 vs 1e-3 with one seed", "one seed"),
        ("lr 1e-4 vs 1e-3 with 5 seeds and 8 seeds", "8 seeds"),
        ("steps 100 vs 400 with lr 1e-3", "steps 100 vs 400"),
        ("does training for 400 steps beat 100 steps?", "400 steps"),
        ("lr 1e-4 vs 1e-3 for 2 epochs", "2 epochs"),
        ("lr 1e-4 vs 1e-3, 24 GPU hours", "24 GPU hours"),
        ("lr 1e-4 vs 1e-3 in 0 steps", "0 steps"),
        ("lr 1e-4 vs 1e-3 within 2 hours or 3 days", "lengths of time"),
        ("fp16 vs bf16", "fp16"),
    ],
)
def test_what_a_study_cannot_keep_is_refused_by_name(topic: str, named: str) -> None:
    with pytest.raises(Refusal, match=named) as refused:
        intent_for(topic)
    assert refused.value.field == "topic"
    assert refused.value.next_step
