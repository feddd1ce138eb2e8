"""A run's metrics so far, one curve a metric: what the rules of alarms read, and what they say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]  # one line of metrics.jsonl

WINDOW = 5

RIGHT = 0.9  # share of right held-out answers from which a task is solved
NEAR_THE_TOP = 0.9  # of the way from the lowest to the highest reward that the run has seen


@dataclass(frozen=True)
class Alarm:
    """`kind` is raised at most once a run; `value` is what the rule saw at `step`."""

    kind: str
    step: int
    value: float
    cause: str


class Curves:
    """The curves of a run, row by row. `row` is the last one, `ended` whether none will follow."""

    def __init__(self) -> None:
        self.row: Row = {"step": 0, "metrics": {}}
        self.ended = False
        self._values: dict[str, list[float]] = {}
        self._sums: dict[str, float] = {}
        self._least: dict[str, float] = {}
        self._most: dict[str, float] = {}

    def add(self, row: Row) -> None:
        self.row = row
        for name, value in row["metrics"].items():
            self._values.setdefault(name, []).append(value)
            self._sums[name] = self._sums.get(name, 0.0) + value
            if not math.isnan(value):
                self._least[name] = min(value, self._least.get(name, value))
                self._most[name] = max(value, self._most.get(name, value))

    @property
    def step(self) -> int:
        return int(self.row["step"])

    def now(self, name: str) -> float | None:
        """A metric in the last row; None where that does not have it."""
        value: float | None = self.row["metrics"].get(name)
        return value

    def names(self) -> Sequence[str]:
        return list(self._values)

    def values(self, name: str) -> Sequence[float]:
        return self._values.get(name, [])

    def mean(self, name: str) -> float:
        """Over all rows that have the metric; NaN of none."""
        return self._sums[name] / len(self._values[name]) if name in self._sums else math.nan

    def most(self, name: str) -> float:
        """The largest value so far; -inf of none."""
        return self._most.get(name, -math.inf)

    def first(self, name: str) -> float:
        return self._window(self.values(name)[:WINDOW])

    def last(self, name: str) -> float:
        """The mean of the last full window, or of what a run had that ended before there was one;
        else NaN: every comparison with it is false."""
        return self._window(self.values(name)[-WINDOW:])

    def over(self, name: str, limit: float) -> float | None:
        """The last window's mean of a metric that is not negative, if that is above `limit`
        whatever may be missing of the window: one value may settle it."""
        window = self.values(name)[-WINDOW:]
        full = len(window) if self.ended else WINDOW
        total = math.fsum(window)
        above = bool(window) and math.isfinite(total) and total > full * limit
        return total / len(window) if above else None

    def rewards(self) -> tuple[float, float]:
        """The lowest and the highest training reward of any rollout so far; of older runs, which
        did not log them, of any batch. (inf, -inf) where nothing was scored."""
        names = ("reward/mean", "reward/min", "reward/max")
        return (
            min(self._least.get(name, math.inf) for name in names),
            max(self._most.get(name, -math.inf) for name in names),
        )

    def solved(self) -> bool:
        """Whether the policy does what the task asks, on whatever scale that is rewarded.

        Held-out answers tell, where any was ever right: most of them are, or their share has not
        risen and rewards say nothing. Else the rewards do: they are near the highest that the run
        has seen."""
        accuracies = [value for value in self.values("eval/acc") if not math.isnan(value)]
        if accuracies and accuracies[-1] >= RIGHT:
            return True
        if len(accuracies) > 1 and any(accuracies) and accuracies[-1] <= accuracies[0]:
            return False
        lowest, highest = self.rewards()
        window = self.values("reward/mean")[-WINDOW:]
        if not lowest < highest or not window:
            return False
        earned = math.fsum(window) / len(window)
        return earned - lowest >= NEAR_THE_TOP * (highest - lowest)

    def _window(self, window: Sequence[float]) -> float:
        short = self.ended and 0 < len(window) < WINDOW
        return math.fsum(window) / len(window) if short or len(window) == WINDOW else math.nan
