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
    """The mean with Student's t-interval, n - 1 degrees of freedom. Raises ValueError for n < 2."""
    n = len(values)
    if n < 2:
        raise ValueError("an interval over seeds needs two or more")
    mean = float(np.mean(values))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * float(np.std(values, ddof=1))
    half /= math.sqrt(n)
    return Spread(tuple(values), mean, mean - half, mean + half)
