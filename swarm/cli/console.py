"""What a run shows on the terminal: a line a step, and a progress bar where someone watches."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from swarm.train.evaluate import Answers, Evaluation, SetEvaluation

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
    evaluations, rewards in supervised training, a mean over nothing."""
    seconds = sum(values.get(name, 0.0) for name in _TIMES)
    cells = (
        f"{'-':>{_width(form)}}"
        if math.isnan(values.get(metric, math.nan))
        else f"{values[metric]:{form}}"
        for _, metric, form in COLUMNS
    )
    return f"{step:>6}{seconds:>7.2f}s" + "".join(cells)


def measured(value: float) -> str:
    """A figure, or that there is none."""
    return "not measured" if math.isnan(value) else f"{value:.3f}"


def evaluation_lines(found: "Evaluation", how: str) -> Iterator[str]:
    """An evaluation, in which `how` answers were drawn: of held-out prompts, or of each set."""
    for each in found.sets:
        yield from _set_lines(each)
    if found.sets:
        return
    if found.n:
        yield (
            f"avg@1 {found.accuracy:.3f}, 95 % interval {found.low:.3f} to {found.high:.3f}, "
            f"on {found.n} held-out prompts, {how}"
        )
    else:
        yield f"avg@1 not measured, on 0 of {found.prompts} held-out prompts, {how}"
    yield from _answer_lines(found)


def _set_lines(found: "SetEvaluation") -> Iterator[str]:
    drawn = f"at temperature {found.temperature:g}" if found.temperature else "greedy"
    answers = "one answer" if found.k == 1 else f"{found.k} answers"
    sha = f", sha256 {found.digest[:12]}" if found.digest else ""
    yield f"{found.name}: {found.n} prompts of {found.ref}{sha}, {answers} each, {drawn}"
    for name, share in found.shares.items():
        if found.k == 1 and "/pass@" in name:  # the same as avg@1
            continue
        shown = f"{share.low:.3f} to {share.high:.3f}" if found.n else "unknown"
        short = name.rpartition("/")[2]
        yield f"  {short} {measured(share.value)}, 95 % interval {shown}"
    yield from (f"  {line}" for line in _answer_lines(found))


def _answer_lines(found: "Answers") -> Iterator[str]:
    if found.overlong < found.prompts:
        yield (
            f"reward {measured(found.reward)}, {found.mean_length:.1f} tokens an answer, "
            f"{found.truncated:.1%} cut off"
        )
    if found.overlong:
        yield f"{found.overlong} of {found.prompts} prompts fill the context and were not asked"
    if found.unjudged:
        yield f"{found.unjudged} of {found.answers} answers were not judged"


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
        begun = False

        def on_step(step: int, values: Mapping[str, float]) -> None:
            nonlocal begun
            if not begun:  # below what was said of the model while it was loaded
                console.print(heading(), style="dim")
            begun = True
            console.print(line(step, values))
            bar.update(task, completed=step)

        yield on_step


def _width(form: str) -> int:
    return int(form.partition(".")[0])
