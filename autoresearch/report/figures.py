"""The report's figures, drawn from their CSV alone.

Arms keep their colour and marker over all figures and are named where they are drawn; colours are
Okabe and Ito's, told apart by the colour-blind. Nothing here touches matplotlib's global state.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise, product
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from autoresearch.report.figure_data import parse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, str]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
DASHES = ("-", "--", "-.", ":")
"""Lines that coincide stay visible through each other's gaps."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
GREY = "#666666"
WIDTH = 8.0
"""Inches; at 160 dots an inch a figure fills a page of a browser."""

LINE = 0.15
"""Inches that a line of a label takes."""

BAND = "±1 standard error over seeds"

TIMES = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))

STYLE = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#222222",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e8e8e8",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Look:
    """How one arm is drawn."""

    colour: str
    marker: str
    dash: str


def draw(name: str, csv: str, path: Path, arms: Sequence[str]) -> None:
    """Draw figure `name` as PNG from its CSV. `arms` fixes colours; the first is the control."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawings: Mapping[str, Callable[[Figure, Sequence[Row], Mapping[str, Look]], None]] = {
        "scores": _scores,
        "effects": _effects,
        "curves": _curves,
        "dynamics": _dynamics,
    }
    looks = {
        arm: Look(*style)
        for arm, *style in zip(arms, cycle(COLOURS), cycle(MARKERS), cycle(DASHES), strict=False)
    }
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        drawings[name](figure, parse(csv), looks)
        figure.savefig(path, dpi=160, metadata={"Software": None})


def _scores(figure: "Figure", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    """A panel a metric and task: an arm a line, a dot a seed, a bar the mean's interval."""
    panels = _grouped(rows, "metric", "task")
    metrics, tasks = _grouped(rows, "metric"), _grouped(rows, "task")
    figure.set_size_inches(WIDTH, len(metrics) * (0.8 + 0.5 * len(looks)))
    grid = figure.subplots(len(metrics), len(tasks), squeeze=False, sharex="row", sharey=True)
    for ((metric,), (task,)), axes in zip(product(metrics, tasks), grid.flat, strict=True):
        _score_panel(axes, panels.get((metric, task), []), looks)
        axes.set_xlabel(f"{metric}, score of a run")
        if len(tasks) > 1:
            axes.set_title(task, loc="left", fontsize=9)


def _score_panel(axes: "Axes", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    by_arm = _grouped(rows, "arm")
    for y, (arm, look) in enumerate(looks.items()):
        found = by_arm.get((arm,), [])
        seeds = [row for row in found if row["status"] != "mean" and row["value"]]
        for index, row in enumerate(seeds):
            offset = 0.22 + 0.09 * (index % 3 - 1)
            marker = look.marker if row["status"] == "finished" else "x"
            axes.plot(
                float(row["value"]),
                y - offset,
                marker,
                markersize=5,
                markerfacecolor="none",
                markeredgecolor=look.colour,
            )
        for row in found:
            if row["status"] == "mean":
                value, height = float(row["value"]), y + 0.12
                _interval(axes, row, value, height, look)
                axes.annotate(
                    f"n = {row['n']}",
                    (value, height),
                    xytext=(0, -6),
                    textcoords="offset points",
                    ha="center",
                    va="top",
                    fontsize=7.5,
                    color=look.colour,
                )
    names = [_wrapped(arm) for arm in looks]
    names[0] += "\n(control)"
    _name_lines(axes, names)
    # Panels beside the first share its labels and have none of their own.
    for label, look in zip(axes.get_yticklabels(), looks.values(), strict=False):
        label.set_color(look.colour)
    axes.margins(x=0.08)


def _effects(figure: "Figure", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    """A line a hypothesis: its effect and interval against the smallest effect of interest."""
    panels = _grouped(rows, "metric")
    heights = [1 + len(found) for found in panels.values()]
    figure.set_size_inches(WIDTH, 0.45 * (sum(heights) + len(panels)))
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
    for ((metric,), found), axes in zip(panels.items(), grid.flat, strict=True):
        _effect_panel(axes, found, looks)
        axes.set_xlabel(f"effect on {metric}; shaded: smaller than the smallest effect of interest")


def _effect_panel(axes: "Axes", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    axes.axvline(0, color=GREY, linewidth=1)
    for y, row in enumerate(rows):
        delta = float(row["min_effect"])
        axes.fill_betweenx([y - 0.4, y + 0.4], -delta, delta, color="#ececec", linewidth=0)
        _interval(axes, row, float(row["effect"]), y, looks[row["arm"]])
        _beside(axes, row["verdict"], y, color="#222222")
    _name_lines(
        axes,
        [f"{r['hypothesis']}: {_wrapped(r['arm'])}\nagainst {_wrapped(r['versus'])}" for r in rows],
    )
    axes.margins(x=0.1)


def _interval(axes: "Axes", row: Row, value: float, y: float, look: Look) -> None:
    """A marker at a value and, where it is known, a bar over its interval."""
    if row["low"]:
        axes.plot([float(row["low"]), float(row["high"])], [y, y], color=look.colour, linewidth=2)
    axes.plot(value, y, marker=look.marker, markersize=7, color=look.colour)


def _name_lines(axes: "Axes", names: Sequence[str]) -> None:
    """A named line for each arm or hypothesis, from the top down."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _curves(figure: "Figure", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    """A row of panels a metric and task: by step, and by wall-clock."""
    panels = _grouped(rows, "metric", "task")
    figure.set_size_inches(WIDTH, 3.1 * len(panels))
    grid = figure.subplots(len(panels), 2, squeeze=False, sharey="row")
    several_tasks = len(_grouped(rows, "task")) > 1
    for ((metric, task), found), (by_step, by_wall) in zip(panels.items(), grid, strict=True):
        longest = max((float(row["wall"]) for row in found if row["wall"]), default=0.0)
        per, unit = next(pair for pair in TIMES if longest >= pair[0] * 3 or pair[0] == 1)
        by_arm = _grouped(found, "arm")
        for axes, column, scale in ((by_step, "step", 1), (by_wall, "wall", per)):
            ends = {}
            for arm, look in looks.items():
                if runs := by_arm.get((arm,)):
                    last = _arm_curve(axes, runs, column, scale, look)
                    ends[arm] = (f"{_wrapped(arm)} (n = {len(_grouped(runs, 'seed'))})", last)
            _label_ends(axes, ends, looks, height=2.5)
        by_step.set_ylabel(f"{metric} on {task}" if several_tasks else metric)
        by_step.set_xlabel("training step")
        by_wall.set_xlabel(f"training time, {unit}")
        note = f"band: {BAND}; thin lines: single runs"
        by_step.set_title(note, loc="left", fontsize=7.5, color=GREY)


def _arm_curve(axes: "Axes", rows: Sequence[Row], column: str, scale: float, look: Look) -> float:
    """Thin lines for runs, a thick one for their mean at each step; returns its last value."""
    for logged in _grouped(rows, "seed").values():
        run = [row for row in logged if row["wall"]]
        x, y = [float(r[column]) / scale for r in run], [float(r["value"]) for r in run]
        axes.plot(x, y, color=look.colour, linewidth=0.6, alpha=0.35)
        if run and len(run) < len(logged):
            axes.plot(x[-1], y[-1], marker="x", markersize=7, color=look.colour)
    means = []
    for _, at in sorted(_grouped(rows, "step").items(), key=lambda item: int(item[0][0])):
        placed = [float(row[column]) / scale for row in at if row["wall"]]
        if placed:
            values = [float(row["value"]) for row in at]
            error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            means.append((fmean(placed), fmean(values), error))
    x, y, spread = (list(part) for part in zip(*means, strict=True))
    low, high = ([m + sign * s for m, s in zip(y, spread, strict=True)] for sign in (-1, 1))
    axes.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)
    axes.plot(x, y, color=look.colour, linewidth=2, marker=look.marker, markersize=3.5)
    return y[-1]


def _dynamics(figure: "Figure", rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    """Small panels by step, a metric each: the mean over an arm's finished runs."""
    panels = _grouped(rows, "metric")
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure.set_size_inches(WIDTH, 2.1 * lines)
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for ((metric,), found), axes in zip(panels.items(), grid.flat, strict=False):
        by_arm, ends = _grouped(found, "arm"), {}
        for arm, look in looks.items():
            if line := by_arm.get((arm,)):
                x, y = [int(r["step"]) for r in line], [float(r["value"]) for r in line]
                axes.plot(x, y, color=look.colour, linewidth=1.2, linestyle=look.dash)
                ends[arm] = (_wrapped(arm), y[-1])
        _label_ends(axes, ends, looks, height=1.6)
        axes.set_title(metric, loc="left", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("training step")


def _label_ends(
    axes: "Axes", ends: Mapping[str, tuple[str, float]], looks: Mapping[str, Look], height: float
) -> None:
    """Write each arm's name beside the end of its line in axes of `height` inches."""
    low, high = axes.get_ylim()
    lines = max(name.count("\n") + 1 for name, _ in ends.values())
    spread = _apart([y for _, y in ends.values()], lines * LINE / height * (high - low), high)
    for (arm, (name, _)), y in zip(ends.items(), spread, strict=True):
        _beside(axes, name, y, fontsize=8, color=looks[arm].colour, annotation_clip=False)
    axes.set_ylim(low, high)


def _beside(axes: "Axes", text: str, y: float, **style: Any) -> None:
    """Write a text to the right of the axes, at the height of `y`."""
    axes.annotate(text, (1.01, y), xycoords=("axes fraction", "data"), va="center", **style)


def _apart(values: Sequence[float], gap: float, top: float) -> list[float]:
    """The values moved so that they lie `gap` apart and, if they fit, none above `top`."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    placed = list(values)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + gap)
    limit = top
    for i in reversed(order):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - gap
    return placed


def _wrapped(arm: str) -> str:
    return arm.replace("+", "+\n")


def _grouped(rows: Sequence[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    """The rows by what stands in some columns, in the order of the first row of each."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found
