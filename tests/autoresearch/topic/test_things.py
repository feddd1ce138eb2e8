"""Names of models, data, tasks, hardware and libraries: used, honoured by an option, or refused."""

from pathlib import Path

import pytest
from support.plans import intent_for

from autoresearch.topic.stretches import Text
from autoresearch.topic.things import things
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "models", "data"),
    [
        ("group size 4 vs 16 for Qwen2.5-1.5B", ("Qwen2.5-1.5B",), ()),
        ("on Llama-3.2-1B and GSM8K", ("Llama-3.2-1B",), ("GSM8K",)),
        ("Llama 3.2 1B Instruct", ("Llama 3.2 1B Instruct",), ()),
        ("Qwen 2.5 7B with 16 rollouts", ("Qwen 2.5 7B",), ()),
        ("a 0.5B model", ("0.5B model",), ()),
        ("DeepSeek-R1-Distill-Qwen-1.5B", ("DeepSeek-R1-Distill-Qwen-1.5B",), ()),
        ("org/gemma-2-2b-it", ("org/gemma-2-2b-it",), ()),
        ("phi-4 on MATH-500", ("phi-4",), ("MATH-500",)),
        ("AIME 2024 and AIME25", (), ("AIME 2024", "AIME25")),
        ("openai/gsm8k", (), ("openai/gsm8k",)),
        ("HumanEval and MBPP", (), ("HumanEval", "MBPP")),
        ("MATH but no math", (), ("MATH",)),
    ],
)
def test_a_name_is_read_whole(topic: str, models: tuple[str, ...], data: tuple[str, ...]) -> None:
    found = things(Text(topic))
    assert (found.models, found.data) == (models, data)


@pytest.mark.parametrize(
    ("topic", "field", "value"),
    [
        ("group size 4 vs 16 on sort", "task", "sort"),
        ("group size 4 vs 16 on the chain task, 5 seeds", "task", "chain"),
        ("lr 1e-3 vs 1e-4 on reverse for 40 steps", "task", "reverse"),
        ("lr 1e-4 vs 1e-3 with smollm2-135m-instruct", "model", "smollm2-135m-instruct"),
        ("SmolLM2-135M-Instruct: lr 1e-5 vs 1e-4", "model", "smollm2-135m-instruct"),
        ("lr 1e-4 vs 1e-3 on tiny", "model", "tiny"),
        ("Qwen/Qwen2.5-0.5B-Instruct: rank 8 vs 64", "model", "Qwen/Qwen2.5-0.5B-Instruct"),
    ],
)
def test_what_is_here_by_its_name_is_used(topic: str, field: str, value: str) -> None:
    intent = intent_for(topic)
    assert getattr(intent, field) == value
    assert intent.left_aside == ()


def test_files_are_taken_from_where_the_user_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = intent_for("train on data/train.jsonl with reward rubric.py:score: lr 1e-4 vs 1e-3")
    assert asked.task == str(tmp_path / "data" / "train.jsonl")
    assert asked.reward == str(tmp_path / "rubric.py:score")
    given = intent_for("reward mine.py:fn, lr 1e-4 vs 1e-3", reward="other.py:fn")
    assert given.reward is None
    assert "mine.py:fn" in given.left_aside[0]


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("GRPO vs RLOO on GSM8K", ("GSM8K", "--task")),
        ("openai/gsm8k with group size 4 vs 16", ("--task openai/gsm8k",)),
        ("GRPO vs RLOO on Llama-3.2-1B", ("Llama-3.2-1B", "--model")),
        ("lr 1e-6 vs 1e-5 for a 0.5B model", ("0.5B", "--model")),
        ("rank 8 vs 64 with GPT-2", ("GPT-2", "--model")),
        ("Qwen3-4B vs Llama-3.2-3B under GRPO", ("Qwen3-4B", "Llama-3.2-3B")),
        ("does it scale from 0.5B to 7B?", ("0.5B", "7B")),
        ("sort vs reverse with GRPO", ("sort and reverse", "--task")),
        ("group size 4 vs 16 on sort and reverse", ("sort and reverse",)),
        ("kl 0 vs 0.1 on a.jsonl and b.jsonl", ("a.jsonl and b.jsonl",)),
        ("rewards a.py:f and reward b.py:g, kl 0 vs 0.1", ("a.py:f", "b.py:g")),
        ("lr 1e-4 vs 1e-3 on a single H100", ("H100", "--ray-address")),
        ("lr 1e-4 vs 1e-3 on 8 GPUs", ("8 GPUs", "--ray-address")),
        ("lr 1e-4 vs 1e-3 on 8xA100", ("8xA100",)),
        ("vLLM vs SGLang rollouts", ("vLLM vs SGLang",)),
        ("TRL vs verl GRPO", ("TRL vs verl",)),
        ("group size 4 vs 16 at 32k context", ("32768", "tiny", "--model")),
        ("max_completion_length 256 vs 1024", ("256", "tiny")),
    ],
)
def test_what_is_not_here_is_refused_with_the_option_that_would_bring_it(
    topic: str, names: tuple[str, ...]
) -> None:
    with pytest.raises(Refusal) as refused:
        intent_for(topic)
    for name in names:
        assert name in str(refused.value)


@pytest.mark.parametrize(
    ("topic", "options", "said"),
    [
        ("GRPO vs RLOO on GSM8K", {"task": "gsm8k_train.jsonl"}, ""),
        ("GRPO vs RLOO on GSM8K", {"task": "hf:openai/gsm8k"}, ""),
        ("GRPO vs RLOO on GSM8K", {"task": "mine.jsonl"}, "GSM8K"),
        ("GRPO vs RLOO on sort", {"task": "sort"}, ""),
        ("GRPO vs RLOO on sort", {"task": "order"}, "sort"),
        ("lr 1e-6 vs 1e-5 for Llama-3.2-1B", {"model": "meta-llama/Llama-3.2-1B-Instruct"}, ""),
        ("lr 1e-6 vs 1e-5 for a 0.5B model", {"model": "Qwen/Qwen2.5-0.5B"}, "0.5B model"),
        ("lr 1e-6 vs 1e-5 for Llama-3.2-1B", {"model": "tiny"}, "Llama-3.2-1B"),
        ("lr 1e-4 vs 1e-3 on 8 GPUs", {"ray_address": "auto"}, "8 GPUs"),
        ("scale_rewards True vs False in TRL", {}, "TRL"),
        ("arXiv:2503.14476: clip-higher 0.28 vs 0.2", {}, "not read: arXiv:2503.14476"),
        ("lr 1e-4 vs 1e-3 (Fig. 3, Hu et al. 2025)", {}, "not read: Fig. 3, et al. 2025"),
        ("lr 1e-4 vs 1e-3, see https://example.org/a?b=3", {}, "https://example.org/a?b=3"),
    ],
)
def test_an_option_is_honoured_and_what_it_is_not_is_said(
    topic: str, options: dict[str, str], said: str
) -> None:
    notes = " ".join(intent_for(topic, **options).left_aside)
    assert said in notes
    assert bool(notes) == bool(said)
