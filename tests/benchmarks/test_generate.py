"""The parts of the generation benchmark that need no model."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import generate_sweep, vllm_server
from benchmarks.generate import (
    CONTINUOUS,
    FULL,
    OURS,
    QUICK,
    SORTED,
    Generated,
    check_lengths,
    deviation,
    faster,
    keys,
)
from benchmarks.generate_sweep import best_settings
from benchmarks.prompts import PROMPTS
from benchmarks.samplers import sampled


def step(variant: str, round_: int, wall_s: float, tokens: tuple[int, ...]) -> Generated:
    return Generated(variant, "fp32", round_, 0, wall_s, 1.0, 1.0, 1.0, tokens)


def rounds(variant: str, seconds_per_token: float, mean: float = 40.0) -> list[Generated]:
    """Three rounds of 128 prompts whose lengths are drawn around `mean`."""
    rng = np.random.default_rng(len(variant))
    found = []
    for r in range(3):
        tokens = tuple(int(n) for n in rng.geometric(1 / mean, 128))
        found.append(step(variant, r, seconds_per_token * sum(tokens), tokens))
    return found


def test_there_are_128_different_prompts() -> None:
    assert len(set(PROMPTS)) == len(PROMPTS) == 128


def test_the_end_token_counts_and_padding_does_not() -> None:
    assert sampled([7, 8, 2, 2, 2], [2, 0]) == 3
    assert sampled([0, 2, 2], [2, 0]) == 1
    assert sampled([7, 8, 9], [2, 0]) == 3


def test_the_ratio_is_against_the_faster_rival_a_token() -> None:
    samples = rounds(OURS, 0.01) + rounds(SORTED, 0.03) + rounds(CONTINUOUS, 0.02)
    rival, found = faster(samples, QUICK[0])
    assert rival == CONTINUOUS
    assert found.value == pytest.approx(2.0)


def test_an_interval_needs_three_rounds() -> None:
    samples = rounds(OURS, 0.01) + rounds(SORTED, 0.03) + rounds(CONTINUOUS, 0.02)
    assert keys(samples, QUICK[:1])["ratio_ci"] is None
    assert keys(samples, FULL[:1])["ratio_ci"] is not None


def test_lengths_of_one_law_agree_and_longer_ones_do_not() -> None:
    check_lengths(rounds(OURS, 0.01) + rounds(SORTED, 0.03))
    with pytest.raises(SystemExit, match="static sorted does not sample"):
        check_lengths(rounds(OURS, 0.01) + rounds(SORTED, 0.03, mean=60.0))


def test_deviation_is_paired_by_prompt() -> None:
    prompt_lengths = np.arange(128.0)[None] * 10
    noise = np.tile([1.0, -1.0], 64)[None]
    assert deviation(prompt_lengths, prompt_lengths + noise) == pytest.approx(0)
    assert deviation(prompt_lengths, prompt_lengths + noise + 1) > 10


def test_without_a_sweep_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(generate_sweep, "RESULT", tmp_path / "none.json")
    with pytest.raises(SystemExit, match="--sweep"):
        best_settings()


def test_without_an_environment_there_is_no_vllm_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vllm_server, "PYTHON", tmp_path / "bin" / "python")
    assert not vllm_server.installed()
