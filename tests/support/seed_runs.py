"""Runs of the real-run benchmark, made up."""

from typing import Any

from benchmarks.smollm2_grpo import SeedRun


def row(step: int, **metrics: float) -> dict[str, Any]:
    return {"step": step, "wall": float(step), "metrics": metrics}


def evaluated(step: int, reward: float, right: float) -> dict[str, Any]:
    return row(step, **{"eval/proxy": reward, "eval/acc": right, "reward/mean": reward})


def seed_run(seed: int, after: float) -> SeedRun:
    rows = [evaluated(0, 0.3, 0.2), row(1, **{"reward/mean": 0.4}), evaluated(2, after, after)]
    return SeedRun(seed, rows, seconds=1.0, greedy_accuracy=after)
