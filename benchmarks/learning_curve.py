"""The picture of a run over several seeds: reward in training, and what held-out prompts say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no display
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.spread import over_seeds

Rows = Sequence[Mapping[str, Any]]


def draw(runs: Mapping[int, Rows], path: Path) -> None:
    """Write the curves of all seeds as a PNG. `runs` maps a seed to its rows of metrics."""
    figure, (training, held_out) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for rows in runs.values():
        _seed_line(training, rows, "reward/mean", "C0")
    _mean_band(training, runs, "reward/mean", "C0", "reward, sampled")
    for metric, colour, label in (
        ("eval/proxy", "C0", "reward"),
        ("eval/acc", "C1", "right sum"),
    ):
        for rows in runs.values():
            _seed_line(held_out, rows, metric, colour)
        _mean_band(held_out, runs, metric, colour, label)
    training.set(title="Training batches", xlabel="step", ylabel="mean over rollouts")
    held_out.set(title="Held-out prompts", xlabel="step", ylabel="mean over prompts")
    for axes in (training, held_out):
        axes.set_ylim(0, 1)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _series(rows: Rows, metric: str) -> dict[int, float]:
    return {row["step"]: row["metrics"][metric] for row in rows if metric in row["metrics"]}


def _seed_line(axes: Axes, rows: Rows, metric: str, colour: str) -> None:
    series = _series(rows, metric)
    axes.plot(list(series), list(series.values()), color=colour, alpha=0.25, linewidth=0.8)


def _mean_band(axes: Axes, runs: Mapping[int, Rows], metric: str, colour: str, label: str) -> None:
    """The mean over seeds by step, with its 95 % interval."""
    series = [_series(rows, metric) for rows in runs.values()]
    steps = sorted(set.intersection(*(set(each) for each in series)))
    spreads = [over_seeds([each[step] for each in series]) for step in steps]
    axes.plot(steps, [s.mean for s in spreads], color=colour, label=label)
    axes.fill_between(
        steps, [s.low for s in spreads], [s.high for s in spreads], color=colour, alpha=0.15
    )
