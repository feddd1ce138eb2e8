"""The parts of the generation benchmark that need no model."""

import numpy as np
import pytest

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
