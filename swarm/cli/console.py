"""What a run shows on the terminal: a line a step, and a progress bar where someone watches."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: (heading, metric, format) of each column after the step and its time.
COLUMNS = (
    ("reward", "reward/mean", "8.3f"),
    ("loss", "loss/policy", "9.4f"),
    ("entropy", "policy/entropy", "8.3f"),
    ("kl", "policy/kl_ref", "8.4f"),
    ("clip", "policy/clip_frac", "7.3f"),
    ("grad", "optim/grad_norm", "8.3f"),
    ("lr", "optim/lr", "9.2e"),
    ("tok/s", "perf/tokens_per_sec", "8.0f"),
    ("eval/acc", "eval/acc", "9.3f"),
)
_TIMES = ("time/rollout", "time/learn", "time/sync", "time/eval")

OnStep = Callable[[int, Mapping[str, float]], None]


def heading() -> str:
    """The line above all steps."""
    return f"{'step':>6}{'time':>8}" + "".join(
        f"{name:>{_width(form)}}" for name, _, form in COLUMNS
    )


def line(step: int, values: Mapping[str, float]) -> str:
    """One step. What it did not measure is a dash: the KL and the accuracy outside of
    evaluations, rewards in supervised training."""
    seconds = sum(values.get(name, 0.0) for name in _TIMES)
    cells = (
        f"{values[metric]:{form}}" if metric in values else f"{'-':>{_width(form)}}"
        for _, metric, form in COLUMNS
    )
    return f"{step:>6}{seconds:>7.2f}s" + "".join(cells)


@contextmanager
def steps_shown(steps: int, stream: IO[str], *, silent: bool = False) -> Iterator[OnStep]:
    """An `on_step` that writes lines to `stream`, above a bar if it is a terminal."""
    if silent:
        yield lambda step, values: None
        return
    console = Console(file=stream, highlight=False, soft_wrap=True)
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=steps)
        shown = False

        def on_step(step: int, values: Mapping[str, float]) -> None:
            nonlocal shown
            if not shown:
                console.print(heading(), style="dim")
                shown = True
            console.print(line(step, values))
            bar.update(task, completed=step)

        yield on_step


def _width(form: str) -> int:
    return int(form.partition(".")[0])
