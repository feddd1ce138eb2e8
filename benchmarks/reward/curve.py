"""A run's learning curve on its training clock, and what two sets of them say about speed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import Ratio

#: Evaluations whose mean is held against the threshold: one alone is noisy.
SMOOTHED = 3

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Curve:
    """What a run showed.

    `startup` is from the start of its process to its first training step, evaluations left out.
    `clock[k]` is the training time after step k + 1, evaluations left out; `rewards[k]` the mean
    reward of that step's rollouts. `evaluated` holds (step, held-out accuracy). `cpu` holds the
    processor seconds of each step that has no evaluation inside. Times in seconds.
    """

    startup: float
    clock: tuple[float, ...]
    rewards: tuple[float, ...]
    evaluated: tuple[tuple[int, float], ...]
    cpu: tuple[float, ...]

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "Curve":
        return cls(
            startup=raw["startup"],
            clock=tuple(raw["clock"]),
            rewards=tuple(raw["rewards"]),
            evaluated=tuple((step, value) for step, value in raw["evaluated"]),
            cpu=tuple(raw["cpu"]),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def with_startup(self) -> "Curve":
        """The same curve on a clock that starts with the process."""
        return replace(self, clock=tuple(self.startup + seconds for seconds in self.clock))

    def mean_accuracy(self) -> float:
        """Over the evaluations after the first step: the area under the curve."""
        return float(np.mean([value for step, value in self.evaluated if step]))

    def step_seconds(self, skip: int = 3) -> float:
        """The median step, the first `skip` left out as warm-up."""
        return float(np.median(np.diff(self.clock)[max(0, skip - 1) :]))


@dataclass(frozen=True)
class Reached:
    """When a run's smoothed held-out accuracy first stood at the threshold or above.

    A `censored` run never did: its step and seconds are its last, so its true ones are larger.
    """

    step: int
    seconds: float
    censored: bool


def reach(curve: Curve, threshold: float) -> Reached:
    """The first evaluation at which the mean of the last `SMOOTHED` is at `threshold`."""
    values = [value for _, value in curve.evaluated]
    for i in range(SMOOTHED - 1, len(values)):
        step = curve.evaluated[i][0]
        if step > 0 and np.mean(values[i - SMOOTHED + 1 : i + 1]) >= threshold:
            return Reached(step, curve.clock[step - 1], censored=False)
    return Reached(len(curve.clock), curve.clock[-1], censored=True)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, and the ends of its 95 % t interval. Raises ValueError below two values."""
    from scipy.stats import t

    if len(values) < 2:
        raise ValueError("an interval needs two values or more")
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1)) * error
    return mean, mean - half, mean + half


def paired_ratio(slow: Sequence[float], fast: Sequence[float]) -> Ratio:
    """The geometric mean of slow / fast, pair by pair, and its 95 % t interval over log ratios.
    Raises ValueError below two pairs."""
    logs = [math.log(s / f) for s, f in zip(slow, fast, strict=True)]
    return Ratio(*(math.exp(value) for value in mean_interval(logs)))


def reached_ratio(
    slow: Sequence[Reached], fast: Sequence[Reached], of: Callable[[Reached], float]
) -> Ratio | None:
    """How many times more seconds or steps (`of`) `slow` takes, over all pairs.

    A censored slow run enters with what it was watched for, so the ratio is then a lower bound.
    None where a fast run is censored: nothing bounds the ratio from below.
    """
    if any(run.censored for run in fast):
        return None
    return paired_ratio([of(run) for run in slow], [of(run) for run in fast])
