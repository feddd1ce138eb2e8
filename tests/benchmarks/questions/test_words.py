"""Numbers and names are read from text fairly."""

import pytest

from benchmarks.questions.words import named, names, numbers, same


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1e-6, 3e-6 and 0.000001", [(1e-6,), (3e-6,), (1e-6,)]),
        ("32k context", [(32000, 32768)]),
        ("10% or 50 %", [(0.1, 10), (0.5, 50)]),
        ("rank-4 vs r=64", [(4,), (64,)]),
        ("reward -1 or .7", [(-1,), (0.7,)]),
        ("betas (0.9, 0.95)", [(0.9,), (0.95,)]),
        ("0.1,0.2,0.3", [(0.1,), (0.2,), (0.3,)]),
        ("20,000 rows", [(20000,)]),
        ("80/20 and 3:1", [(80,), (20,), (3,), (1,)]),
        ("pass@16 and pass@1", [(16,)]),
        ("Qwen2.5-1.5B on gsm8k, 7B, H100, adam_beta2, k3, data2.jsonl", []),
        ("ends with 16.", [(16,)]),
    ],
)
def test_numbers_are_read_with_what_they_may_mean(
    text: str, values: list[tuple[float, ...]]
) -> None:
    found = [readings for _, readings in numbers(text)]
    assert len(found) == len(values)
    for readings, expected in zip(found, values, strict=True):
        assert readings == pytest.approx(expected)


def test_names_are_models_files_benchmarks_and_rules() -> None:
    text = "GRPO on Llama-3.2-1B and 7B, train.jsonl, gsm8k, AIME24 avg@32 at equal wall-clock"
    assert set(names(text)) == {
        *("GRPO", "Llama-3.2-1B", "7B", "train.jsonl", "gsm8k", "AIME24", "avg@32", "wall-clock")
    }
    assert names("num_generations=4 with lr=1e-3 for RL with LoRA") == []


def test_a_text_names_a_word_or_a_number_whole() -> None:
    assert named("group_std|x", "by group std")
    assert named("distil", "distillation is not known")
    assert named("32k", "a budget of 32768 tokens")
    assert not named("all", "allowed in overall")
    assert not named("8", "of 0.8 and 18")
    assert not named("Qwen2.5", "Qwen3 and 2.5")


def test_values_are_compared_by_what_they_are() -> None:
    assert same(1e-6, 0.000001)
    assert same("dr_grpo", "Dr-GRPO")
    assert same(True, "true")
    assert not same(1, True)
