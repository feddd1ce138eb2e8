"""Kinds of topic that once were answered by another study: what each of them plans or refuses."""

from typing import Any

import pytest
from support.plans import plan_for

from autoresearch.study.plan import Plan
from swarm.config.paths import setting
from swarm.errors import Refusal

LR = "lr 1e-4 vs 1e-3"
RATES = {"learning_rate": (1e-4, 1e-3)}


def levels(plan: Plan) -> dict[str, tuple[Any, ...]]:
    return {factor.name: factor.levels for factor in plan.treatments}


@pytest.mark.parametrize(
    ("topic", "factors", "held"),
    [
        ("GRPO vs RLOO, group size 4, 100 steps", {"algorithm": ("grpo", "rloo")},
         {"batch.group_size": 4, "steps": 100}),
        ("what KL coef should I use? try 0, 1e-3 and 5e-2", {"kl_coef": (0.0, 1e-3, 5e-2)}, {}),
        ("best lora rank for RL out of 1, 4 and 16", {"lora_rank": (1, 4, 16)}, {}),
        ("lora r 4/16/64 alpha fixed at 32", {"lora_rank": (4, 16, 64)}, {"policy.alpha": 32.0}),
        ("64 rollouts per step, 8 per prompt: " + LR, RATES,
         {"batch.rollouts": 64, "batch.group_size": 8}),
        ("lr warmup steps 0, 5, 20 at lr 2e-3", {"lr_warmup": (0, 5, 20)}, {"optim.lr": 2e-3}),
        ("is clipping gradients at 0.1 safer than at 1", {"grad_clip": (0.1, 1.0)}, {}),
        ("temp of 0.6 during rollouts worse than 1.0?", {"temperature": (0.6, 1.0)}, {}),
        ("batch std or group std or none", {"advantage_std": ("batch_std", "group_std", "none")},
         {}),
        ("curriculum easy to hard vs random order", {"curriculum": ("easy_first", "uniform")}, {}),
        ("rank 1 lora vs full finetuning", {"full_weights": ("lora", "full")}, {"policy.rank": 1}),
        (LR + " with the KL turned off", RATES, {"algorithm.kl_coef": 0.0}),
        (LR + " with clip-higher", RATES, {"algorithm.clip_high": 0.28}),
        (LR + " with a curriculum", RATES, {"data.order": "easy_first"}),
        ("optim.eps 1e-8 vs 1e-5, 4 seeds", {"optim.eps": (1e-8, 1e-5)}, {}),
        ("gae lambda 0.95 vs 1, gamma 1", {"algorithm.value.lam": (0.95, 1.0)},
         {"algorithm.value.gamma": 1.0}),
        ("adam betas (0.9, 0.95) vs (0.9, 0.999)", {"adam_beta2": (0.95, 0.999)},
         {"optim.beta1": 0.9}),
        ("token-level vs sequence-level importance ratio, 4 minibatches per batch",
         {"algorithm.ratio": ("token", "sequence")}, {"batch.minibatches": 4}),
        ("use_kl_loss=True kl_loss_coef=0.001 vs use_kl_in_reward=True",
         {"kl_placement": ("loss", "reward")}, {"algorithm.kl_coef": 0.001}),
        ("REINFORCE without baseline vs REINFORCE with batch mean baseline",
         {"baseline": ("none", "batch")}, {}),
        ("GRPO runs collapse after 150 steps; does KL 0.01 help", {"kl_coef": (0.0, 0.01)},
         {"steps": 60}),
        ("grpo vs rloo, ten seeds, twenty five steps", {"algorithm": ("grpo", "rloo")},
         {"steps": 25}),
    ],
)  # fmt: skip
def test_what_is_compared_and_what_is_held(
    topic: str, factors: dict[str, tuple[Any, ...]], held: dict[str, Any]
) -> None:
    plan = plan_for(topic)
    assert levels(plan) == factors
    config = plan.train_config(plan.arms[0].id, plan.tasks[0], 0, {})
    assert {path: setting(config, path) for path in held} == held


@pytest.mark.parametrize(
    ("topic", "sets", "every"),
    [
        (f"evaluate on sort every 20 steps, {LR}", {"ref": "sort"}, 20),
        (f"evaluate on sort at temperature 0.6, {LR}", {"ref": "sort", "temperature": 0.6}, 10),
        (f"evaluate on sort with 4 samples per prompt, {LR}", {"ref": "sort", "k": 4}, 10),
        (f"{LR}, report on sort", {"ref": "sort"}, 10),
    ],
)
def test_what_is_said_of_evaluations_goes_to_evaluations(
    topic: str, sets: dict[str, Any], every: int
) -> None:
    plan = plan_for(topic)
    (found,) = plan.train.evaluation.sets
    assert {name: getattr(found, name) for name in sets} == sets
    assert plan.train.evaluation.every == every
    assert plan.tasks == ("reverse",)
    assert plan.train.sampling.temperature == 1.0


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("lr 1e-4 vs lr 1e-4", "both sides of its comparison are learning_rate"),
        ("kl 0 vs 0.01, higher temperature", "names temperature without a value"),
        ("should the reference model be updated every 20 steps", "updated every 20 steps"),
        (f"save a checkpoint every 20 steps, {LR}", "every 20 steps"),
        (f"at most 45 min per run, {LR}", "45 min per run"),
        (f"train on add, test on sort: {LR}", "train on add"),
        ("LoRA vs full finetuning, lr 1e-3 for both", "fixes learning_rate"),
        ("group siz 4 vs 16", "did you mean 'size' for 'siz'"),
        ("gradient accumulation 1 vs 8", "gradient accumulation"),
        (f"{LR}, stop early if it is obvious", "stop early"),
    ],
)
def test_what_no_study_can_honour_is_named(topic: str, named: str) -> None:
    with pytest.raises(Refusal) as refused:
        plan_for(topic)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    "topic", ["lr 1e-4, 3e-4, 1e-3", "kl 0, 0.001, 0.01", "lora rank 4, 8, 16", "sft warmup 10, 50"]
)
def test_every_arm_but_the_control_is_judged(topic: str) -> None:
    plan = plan_for(topic)
    assert {h.arm for h in plan.hypotheses} | {plan.hypotheses[0].versus} == {
        arm.id for arm in plan.arms
    }
    assert {h.versus for h in plan.hypotheses} == {plan.hypotheses[0].versus}
    assert {h.direction for h in plan.hypotheses} == {"different"}
