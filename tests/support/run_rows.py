"""Rows of a run as metrics.jsonl has them, by how each metric moves."""

import math
from collections.abc import Callable

STEPS = 20


def run(**changes: Callable[[int], float]) -> list[dict]:
    """Rows of a healthy run, but for the metrics in `changes` (`/` written as `__`)."""
    healthy: dict[str, Callable[[int], float]] = {
        "reward/mean": lambda s: 0.3 + 0.02 * s,
        "policy/entropy": lambda s: 1.0 - 0.02 * s,
        "policy/kl_ref": lambda s: 0.01 * s,
        "policy/clip_frac": lambda s: 0.01,
        "policy/ratio_max": lambda s: 1.2,
        "mismatch/kl": lambda s: 1e-6,
        "loss/policy": lambda s: -0.01,
        "optim/grad_norm": lambda s: 0.5,
        "completions/mean_length": lambda s: 8.0,
        "completions/mean_length_wrong": lambda s: math.nan,
        "completions/truncated_frac": lambda s: 0.0,
    }
    shape = healthy | {name.replace("__", "/"): f for name, f in changes.items()}
    return [
        {"step": s, "wall": float(s), "metrics": {name: f(s) for name, f in shape.items()}}
        for s in range(STEPS)
    ]
