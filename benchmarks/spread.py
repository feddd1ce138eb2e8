"""A mean over seeds with its t-interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Spread:
    """Values of some seeds, their mean and its two-sided 95 % interval."""

    values: tuple[float, ...]
    mean: float
    low: float
    high: float


def over_seeds(values: Sequence[float]) -> Spread:
    """The mean of these seeds and its interval. Raises ValueError for fewer than two."""
    mean, deviation = float(np.mean(values)), float(np.std(values))
    return Spread(tuple(values), mean, *student_interval(mean, deviation, len(values)))


def student_interval(mean: float, deviation: float, n: int) -> tuple[float, float]:
    """Student's two-sided 95 % interval of a mean of n values, from their standard deviation (the
    one that divides by n). Raises ValueError for n < 2."""
    if n < 2:
        raise ValueError(f"{n} values have no interval: take two or more")
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * deviation / math.sqrt(n - 1)
    return mean - half, mean + half
