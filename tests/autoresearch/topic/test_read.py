"""A topic is read whole: each number and name is used, or the topic is refused by it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.plans import intent_for, plan_for

from autoresearch.topic.read import read
from swarm.config.base import JsonValue
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("GRPO vs RLOO on GSM8K", ("GSM8K", "--task")),
        ("grpo vs rloo on Llama-3.2-1B", ("Llama-3.2-1B", "--model")),
        ("learning rate sweep 1e-6 3e-6 1e-5 for Qwen2.5-1.5B GRPO", ("Qwen2.5-1.5B", "--model")),
        ("lr 1e-4 vs 1e-3 on Qwen 2.5 7B", ("Qwen 2.5 7B", "--model")),
        ("rank 8 vs 64 for DeepSeek-R1-Distill-Qwen-1.5B", ("DeepSeek-R1-Distill-Qwen-1.5B",)),
        ("kl 0 vs 0.1 for a 7B model", ("7B model", "--model")),
        ("phi-3.5-mini vs gemma-2-2b-it", ("phi-3.5-mini", "gemma-2-2b-it", "one model")),
        ("lr 1e-4 vs 1e-3, tested on MATH-500", ("MATH-500", "--eval")),
        ("GRPO vs PPO at equal wall-clock", ("wall-clock", "at equal steps")),
        ("group size 2 vs 16 at matched tokens", ("matched tokens",)),
        ("on-policy distillation vs GRPO", ("on-policy distillation",)),
        ("mask_truncated_completions: should overlong answers be masked?", ("mask_truncated",)),
        ("does dropout help GRPO?", ("dropout",)),
        ("top_p 0.9 vs 1.0", ("top_p",)),
        ("KTO vs DPO", ("KTO",)),
        ("muon vs adamw for RL", ("muon",)),
        ("GRPO with a PRM or without", ("PRM", "--reward")),
        ("entropy bonus 0.01 vs activation sparsity", ("activation sparsity",)),
        ("80/20 math/code mixture with group size 4", ("80",)),
        ("does clip-higher keep entropy above 0.5?", ("0.5",)),
        ("group size 4 vs 16 with GiGPOX", ("GiGPOX",)),
        ("loss_type=sapo vs dapo", ("sapo", "dr_grpo")),
        ("loss_type bnpo vs dr_grpo", ("bnpo", "dapo")),
        ("loss_agg_mode=token-mean vs loss_agg_mode=token_mean", ("token_mean", "known")),
        ("per_device_train_batch_size 4 vs 8", ("per_device_train_batch_size",)),
        ("lr 1e-4 vs 1e-3 on 8xH100", ("8xH100", "--ray-address")),
        ("lr 1e-4 vs 1e-3 for 2 epochs", ("2 epochs", "steps")),
        ("lr 1e-4 vs 1e-3 with one seed", ("one seed",)),
        ("maj@16 for lr 1e-4 vs 1e-3", ("maj@16", "pass@k")),
        ("fp8 vs bf16 rollouts", ("fp8",)),
        ("hilft eine größere Gruppe bei GRPO?", ("not in English",)),
        ("组大小 4 和 16 哪个更好", ("not in English",)),
        ("¿es mejor un KL más alto?", ("not in English",)),
    ],
)
def test_what_no_study_here_can_honour_is_refused_by_name(
    topic: str, names: tuple[str, ...]
) -> None:
    with pytest.raises(Refusal) as refused:
        plan_for(topic)
    assert refused.value.field == "topic"
    for name in names:
        assert name in str(refused.value)


@pytest.mark.parametrize(
    ("topic", "factor", "levels"),
    [
        ("kl_loss_coef 0.001 vs 0", "kl_coef", (0.001, 0.0)),
        ("scale_rewards=False vs True", "advantage_std", ("none", "group_std")),
        ("scale_rewards 'batch' or 'group'", "advantage_std", ("batch_std", "group_std")),
        ("loss_type dapo vs dr_grpo", "loss_aggregation", ("token_mean", "fixed_length")),
        ("actor_rollout_ref.rollout.n=8 vs 16", "group_size", (8, 16)),
        ("adv_estimator=gae or rloo", "algorithm", ("ppo", "rloo")),
        ("use_kl_in_reward true vs false", "kl_placement", ("reward", "loss")),
        ("num_iterations: 1, 2, 4", "updates_per_batch", (1, 2, 4)),
        ("importance_sampling_level token vs sequence", "algorithm.ratio", ("token", "sequence")),
        ("init_kl_coef 0.01 vs 0.1", "kl_coef", (0.01, 0.1)),
        ("n_samples_per_prompt 4 vs 8", "group_size", (4, 8)),
        ("max_async_level 0 vs 8", "staleness", (0, 8)),
        ("lora_r 8 vs 32", "lora_rank", (8, 32)),
        ("optim.eps 1e-8 vs 1e-5", "optim.eps", (1e-8, 1e-5)),
        ("task.args.max 5 vs 7 on reverse", "task.args.max", (5, 7)),
        ("PPO with value head vs group baseline", "baseline", ("value", "group")),
        ("bf16 vs fp32 rollouts", "model.dtype", ("bfloat16", "float32")),
        ("lr 10% vs 1%", "learning_rate", (0.1, 0.01)),
        ("learning rate sweep 1e-5 3e-5 1e-4", "learning_rate", (1e-5, 3e-5, 1e-4)),
        ("two or four updates per batch", "updates_per_batch", (2, 4)),
    ],
)
def test_names_of_other_trainers_and_paths_are_factors(
    topic: str, factor: str, levels: tuple[JsonValue, ...]
) -> None:
    plan = plan_for(topic)
    assert [treatment.name for treatment in plan.treatments] == [factor]
    assert plan.treatments[0].levels == levels


def test_how_a_study_runs_is_part_of_it() -> None:
    plan = plan_for("lr 1e-4 vs 1e-3, 6 seeds each, for 24 steps in bf16 within 2 hours")
    assert plan.decision.looks == (6,)
    assert len(plan.seeds.confirm) == 6
    assert plan.train.steps == 24
    assert plan.train.steps // plan.train.evaluation.every >= plan.decision.last_evals
    assert plan.train.model.dtype == "bfloat16"
    assert plan.budget.seconds == 7200
    assert plan_for("lr 1e-4 vs 1e-3, evaluated every 4 steps").train.evaluation.every == 4


def test_a_number_that_is_not_a_setting_of_the_study_stays_with_its_factor() -> None:
    assert plan_for("0, 20 or 200 SFT steps before RL").treatments[0].levels == (0, 20, 200)
    assert plan_for("staleness 0 vs 4 steps").treatments[0].levels == (0, 4)
    assert plan_for("sft warmup of 50 steps vs 200 steps").treatments[0].levels == (50, 200)


def test_words_that_nobody_takes_are_listed_in_the_plan() -> None:
    plan = plan_for("does the learning rate matter for harmonious gardening of policies?")
    said = next(note for note in plan.notes if note.startswith("not used: "))
    assert "harmonious" in said
    assert "gardening" in said


def test_a_model_is_honoured_by_an_option_that_holds_its_name() -> None:
    topic = "lr 1e-4 vs 1e-3 on Qwen2.5-0.5B"
    plan = plan_for(topic, model="org/qwen2.5-0.5b-instruct")
    assert not any("the topic names" in note for note in plan.notes)
    other = plan_for(topic, model="tiny")
    assert any("Qwen2.5-0.5B" in note and "tiny" in note for note in other.notes)


FACTORS_SAID = {
    "group size {} vs {}": (2, 64),
    "lora rank {} vs {}": (1, 64),
    "updates per batch {} or {}": (1, 16),
    "staleness {} vs {} versions": (0, 32),
    "num_generations={} vs {}": (2, 64),
    "batch.epochs {} vs {}": (1, 16),
}
AROUND = (
    "",
    ", {} seeds",
    " for {} steps",
    " with {} {}",
    " at {} {}",
    " and {} {}",
    ", {} {} each",
    " on {}B models",
    " for Qwen2.5-{}B",
    " with pass@{}",
    " within {} minutes",
    " in {}",
    " over {} {} of grog",
    " by {}%",
    " evaluated every {} steps",
)
UNITS = ("parsnips", "GPUs", "prompts", "tokens", "foo", "layers", "hz", "iterations")


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(FACTORS_SAID)),
    st.lists(st.integers(0, 64), min_size=2, max_size=2, unique=True),
    st.sampled_from(AROUND),
    st.integers(71, 99),
    st.sampled_from(UNITS),
)
def test_every_number_is_in_the_intent_or_the_topic_is_refused(
    form: str, levels: list[int], around: str, extra: int, unit: str
) -> None:
    """A refusal names a setting, or words of the topic."""
    low, high = FACTORS_SAID[form]
    levels = [min(max(level, low), high) for level in levels]
    topic = form.format(*levels) + around.format(extra, unit)
    intent, line = None, ""
    try:
        intent = intent_for(topic)
    except Refusal as refused:
        line = str(refused)
    event("refused" if line else "answered")
    if intent is None:
        assert any(word.strip(",") in line for word in topic.split()), line
        return
    said = json.dumps(intent.model_dump(mode="json", exclude={"topic"}))
    numbers = {float(found) for found in re.findall(r"\d+\.?\d*", said)}
    asked = {*map(float, levels), *([float(extra)] if "{}" in around else [])}
    of_time = {extra * 60.0} if "minutes" in around else set()
    assert asked - numbers - ({float(extra)} if of_time & numbers else set()) == set(), said


def test_names_keep_their_digits() -> None:
    reading = read("group size 4 vs 16 for Qwen2.5-1.5B and GSM8K")
    assert reading.things.models == ("Qwen2.5-1.5B",)
    assert reading.things.data == ("GSM8K",)
    assert [named.levels for named in reading.parsed.treatments] == [(4, 16)]
    assert not re.search(r"\d", reading.left.replace("4 vs 16", ""))


def test_the_topics_of_the_readme_are_read_as_it_says() -> None:
    asked = intent_for("num_generations 4 vs 16, 10 seeds each, for 100 steps, pass@8")
    assert [(f.name, f.levels) for f in asked.factors] == [("group_size", (4, 16))]
    assert (asked.seeds, asked.steps, asked.evaluation[0].k) == (10, 100, 8)
    page = (Path(__file__).parents[3] / "README.md").read_text()
    said = re.search(r'"(GRPO vs RLOO on GSM8K)"\s+# refused: (.*)', page)
    assert said
    with pytest.raises(Refusal) as refused:
        intent_for(said[1])
    assert said[2] in str(refused.value)
