"""Means over prompts and their intervals: prompts are the unit that is drawn, answers are not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A mean over prompts with its 95 % interval; NaN where there is none."""

    value: float
    low: float
    high: float


def share_of(values: Sequence[float], most: float = 1.0) -> Share:
    """The mean of one figure in [0, 1] a prompt, and its interval over prompts.

    Where each is 0 or 1 it is Wilson's (J. Am. Stat. Assoc. 22, 1927). Else it is Wilson's of the
    effective number of answers, p (1 - p) over the variance of the mean, with a t quantile for a
    variance that is estimated: Korn and Graubard (Survey Methodology 24, 1998) for the number,
    Franco et al. (J. Surv. Stat. Methodol. 7, 2019) for Wilson's with it. An interval of Student's
    t would be of no width where all prompts happen to score alike, and leave [0, 1] near its ends.
    `most` is how many answers of one prompt count, were they independent: no variance, however
    small, makes them more.
    """
    from scipy.stats import binomtest, norm, t

    n = len(values)
    if not n:
        return Share(math.nan, math.nan, math.nan)
    mean = float(np.mean(values))
    if all(value in (0.0, 1.0) for value in values):
        interval = binomtest(round(math.fsum(values)), n).proportion_ci(CONFIDENCE, method="wilson")
        return Share(mean, float(interval.low), float(interval.high))
    if n == 1:
        return Share(mean, 0.0, 1.0)
    variance = float(np.var(values, ddof=1)) / n
    answers = n * most
    if variance:
        answers = min(answers, mean * (1 - mean) / variance)
    z = float(norm.ppf(0.5 + CONFIDENCE / 2))
    answers *= (z / float(t.ppf(0.5 + CONFIDENCE / 2, n - 1))) ** 2
    middle = (mean + z**2 / (2 * answers)) / (1 + z**2 / answers)
    half = z / (1 + z**2 / answers)
    half *= math.sqrt(mean * (1 - mean) / answers + (z / (2 * answers)) ** 2)
    return Share(mean, max(0.0, middle - half), min(1.0, middle + half))
