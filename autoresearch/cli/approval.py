"""A plan as it is approved: all that will be registered, and nothing else."""

from collections.abc import Collection

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autoresearch.cli import planview
from autoresearch.planner.preview import differing, settings, varied
from autoresearch.planner.task_for import Data, data_of
from autoresearch.study.durations import duration
from autoresearch.study.intent import Intent
from autoresearch.study.plan import Plan

_DIGEST = 12


def render(plan: Plan, fixed: Collection[str], intent: Intent | None) -> RenderableType:
    """What `start --dry-run` shows: the question in the user's words, hypotheses, each arm by what
    it alone sets, data and evaluation sets with their sizes and hashes, what was left aside, time;
    then, folded, what all arms share (`fixed` are the user's own)."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_row("asked", Text(f"“{plan.topic}”"))
    for index, arm in enumerate(plan.arms):
        own = ", ".join(
            f"{path} {planview.shown(v)}" for path, v in differing(plan, arm.id).items()
        )
        line = Text.assemble((arm.id, "bold"), f": {own or 'as the control, under other seeds'}")
        grid.add_row("arms differ" if index == 0 else "", line)
    for index, each in enumerate(data_of(plan)):
        grid.add_row("data" if index == 0 else "", Text(_data(each)))
    for index, note in enumerate(intent.left_aside if intent else ()):
        grid.add_row("left aside" if index == 0 else "", Text(note))
    grid.add_row("ends", f"within {duration(plan.budget.seconds)}, or it pauses")
    grid.add_row("registers", f"sha256 {plan.digest()}")
    shared = [path for path in settings(plan) if path not in varied(plan)]
    title = Text(f"alike in every arm: {len(shared)} settings", style="dim")
    return Group(
        planview.render(plan, None, None, intent, left_aside=False),
        Padding(grid, (0, 1, 1, 1)),
        Padding(title, (0, 1)),
        planview.settings_table(plan, shared, fixed),
    )


def _data(each: Data) -> str:
    of = f" in {', '.join(each.arms)}" if each.arms else ""
    held = f", {each.held_out} held out" if each.held_out else ""
    return f"{each.task}{of}: {each.rows} rows{held}, sha256 {each.sha256[:_DIGEST]}"
