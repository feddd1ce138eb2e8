"""Figures over seeds: the interval, the asked keys, the picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.configs.sums import FORMAT_REWARD
from benchmarks.learning_curve import draw
from benchmarks.smollm2_grpo import SeedRun, measured
from benchmarks.spread import over_seeds


def row(step: int, **metrics: float) -> dict[str, Any]:
    return {"step": step, "wall": float(step), "metrics": metrics}


def evaluated(step: int, reward: float, right: float) -> dict[str, Any]:
    return row(step, **{"eval/proxy": reward, "eval/acc": right, "reward/mean": reward})


def seed_run(seed: int, after: float) -> SeedRun:
    rows = [evaluated(0, 0.3, 0.2), row(1, **{"reward/mean": 0.4}), evaluated(2, after, after)]
    return SeedRun(seed, rows, seconds=1.0, greedy_accuracy=after)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8))
def test_interval_is_that_of_the_one_sample_t_test(values: list[float]) -> None:
    found = over_seeds(values)
    if np.ptp(values) < 1e-6:
        assert found.high - found.low == pytest.approx(0, abs=1e-5)
        return
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_one_seed_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two or more"):
        over_seeds([0.5])


def test_measured() -> None:
    found = measured([seed_run(0, 0.6), seed_run(1, 0.8)], prompts=10)
    assert (found["reward_before"], found["reward_after"]) == pytest.approx((0.3, 0.7))
    assert found["reward_before_ci95"] == pytest.approx([0.3, 0.3])
    assert found["gain_seeds"] == pytest.approx([0.3, 0.5])
    assert found["gain_ci95"] == pytest.approx([0.4 - 12.706 * 0.1, 0.4 + 12.706 * 0.1], abs=1e-3)
    assert found["format_before"] == pytest.approx(0.7)
    rewards = [1.0] * 2 + [FORMAT_REWARD] * 5 + [0.0] * 3
    over_prompts = stats.ttest_1samp(rewards, 0).confidence_interval(0.95)
    assert found["reward_before_prompts_ci95"] == pytest.approx(list(over_prompts))
    assert (found["seeds"], found["steps"]) == ([0, 1], 2)


def test_curve_is_a_picture(tmp_path: Path) -> None:
    runs = {run.seed: run.rows for run in (seed_run(0, 0.6), seed_run(1, 0.8))}
    draw(runs, tmp_path / "images" / "curve.png")
    assert (tmp_path / "images" / "curve.png").read_bytes().startswith(b"\x89PNG")
