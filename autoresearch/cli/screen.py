"""What the user sees while a study runs: a live view in a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autoresearch.analysis.scores import primary_metric
from autoresearch.cli.progress import ArmProgress, StudyProgress
from autoresearch.cli.terminal import RealConsole, noise_to
from autoresearch.execute.observer import Observer
from autoresearch.study.durations import duration
from autoresearch.study.facts import ENDED, TrialFacts
from autoresearch.study.plan import Plan

if TYPE_CHECKING:
    from autoresearch.run.study import Summary

#: The stages as the track shows them: a title and the stages that it stands for.
_TRACK: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("register", ("freeze",)),
    ("pilot", ("pilot", "size")),
    ("tune", ("tune",)),
    ("confirm", ("confirm",)),
    ("decide", ("look",)),
    ("report", ("report",)),
    ("verify", ("verify", "done")),
)

_ENDED = {"failed": "failed", "paused": "is paused", "budget": "is out of budget"}
_MORE = {"failed": "", "paused": "", "budget": " --budget 1h"}
_COLOURS = {"supported": "green", "refuted": "red", "equivalent": "cyan", "invalid": "red"}

_REFRESH = 4
_BAR_WIDTH = 24
_WIDE = 100


@contextmanager
def watch(log: Path, *, silent: bool) -> Iterator[Observer]:
    """The observer that fits stdout. All other output of the process goes to `log` meanwhile."""
    with noise_to(log) as real:
        progress = StudyProgress()
        if silent:
            yield Observer()
        elif real.isatty():
            with Screen(RealConsole(real), progress) as screen:
                yield screen
        else:
            yield Lines(lambda text: print(text, file=real), progress)


def ending(summary: "Summary") -> list[Text]:
    """Lines: verdicts and where the report is; or why there is none, and how to go on."""
    lines = [verdict_line(h) for h in summary.hypotheses]
    if summary.end == "done":
        lines.append(Text(f"report  {summary.report}"))
        lines.append(Text(f"check   autoresearch report verify {summary.study}"))
    else:
        lines.append(Text(f"{summary.study} {_ENDED[summary.end]}: {summary.cause}", "yellow"))
        if "start anew" not in summary.cause:
            lines.append(Text(f"go on   autoresearch resume {summary.study}{_MORE[summary.end]}"))
    counts = f"{summary.done} trials done, {summary.failed} failed"
    return [*lines, Text(f"{counts}, {duration(summary.seconds)}", "dim")]


class _Watcher(Observer):
    """What both observers do with what they are told. The screen reads it from another thread."""

    def __init__(self, progress: StudyProgress) -> None:
        self._progress = progress
        self._lock = RLock()

    def stage(self, stage: str) -> None:
        with self._lock:
            self._progress.stage = stage

    def plan(self, plan: Plan) -> None:
        with self._lock:
            self._progress.plan = plan

    def trials(self, facts: Sequence[TrialFacts]) -> None:
        with self._lock:
            self._progress.trials(facts)

    def progress(self, trial_id: str, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        with self._lock:
            self._progress.step(trial_id, step, steps)

    def finished(self, summary: Mapping[str, Any]) -> None:
        with self._lock:
            self._progress.stage = "done"


class Screen(_Watcher):
    """An observer that draws: a bar per arm, the current estimates, the stage, the time left."""

    def __init__(self, console: RealConsole, progress: StudyProgress) -> None:
        super().__init__(progress)
        self._console = console
        self._live = Live(
            console=console,
            get_renderable=self._view,
            refresh_per_second=_REFRESH,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def note(self, text: str) -> None:
        self._console.print(Text.assemble((" · ", "cyan"), text))

    def _view(self) -> RenderableType:
        self._console.fit()
        with self._lock:
            arms = arm_table(self._progress, narrow=self._console.width < _WIDE)
            stages, clock = track(self._progress.stage), _clock(self._progress)
        return Padding(Group(arms, "", stages, clock), (1, 1, 0, 1))


class Lines(_Watcher):
    """An observer that writes one plain line an event."""

    def __init__(self, write: Callable[[str], None], progress: StudyProgress) -> None:
        super().__init__(progress)
        self._write = write

    def stage(self, stage: str) -> None:
        super().stage(stage)
        self.note(f"stage {stage}")

    def trials(self, facts: Sequence[TrialFacts]) -> None:
        known = {t.spec.id for t in facts if self._progress.trial(t.spec.id) is not None}
        for trial in self._progress.trials(facts):
            history = trial.spec.id not in known and trial.status in ENDED
            if trial.status != "pending" and not history:
                self.note(self._trial(trial))

    def note(self, text: str) -> None:
        self._write(f"[{self._progress.elapsed:6.1f} s] {text}")

    def _trial(self, trial: TrialFacts) -> str:
        spec = trial.spec
        words = [f"{spec.phase} {spec.arm} seed {spec.seed} {trial.status}"]
        score = self._progress.score(spec.id)
        if score is not None and self._progress.plan:
            words.append(f"{primary_metric(self._progress.plan)} {score:.3f}")
        if trial.status == "failed" and trial.cause:
            words.append(trial.cause)
        ended = sum(arm.ended for arm in self._progress.arms())
        total = sum(arm.total for arm in self._progress.arms())
        return ", ".join([*words, f"{ended}/{total} trials"])


def arm_table(progress: StudyProgress, *, narrow: bool) -> RenderableType:
    """A row per arm: bar, trials, steps of what runs, mean of the confirmation scores so far."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=24 if narrow else 40)
    table.add_column(width=14 if narrow else _BAR_WIDTH)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, min_width=8)
    table.add_column(no_wrap=True)
    if progress.plan is None:
        return table
    factors = " + ".join(factor.name for factor in progress.plan.treatments)
    heads = (factors, "", "trials", "step", primary_metric(progress.plan))
    table.add_row(*(Text(head, style="dim") for head in heads))
    for arm in progress.arms():
        bar = ProgressBar(total=1.0, completed=arm.fraction, finished_style="green")
        count = Text(f"{arm.ended}/{arm.total}")
        if arm.failed:
            count.append(f" {arm.failed} failed", style="red")
        levels = progress.plan.arm(arm.arm).levels.values()
        label = Text(" + ".join(str(level) for level in levels))
        table.add_row(label, bar, count, _steps(arm, 1 if narrow else 3), _estimate(arm))
    return table


def _steps(arm: ArmProgress, most: int) -> Text:
    shown = [f"{step}/{steps}" for step, steps in arm.steps] + ["starting"] * arm.starting
    return Text("  ".join(shown[:most]), style="cyan")


def _estimate(arm: ArmProgress) -> Text:
    if arm.mean is None:
        return Text("–", style="dim")
    spread = f" SD {arm.spread:.3f}" if arm.spread is not None else ""
    return Text.assemble((f"{arm.mean:.3f}", "bold"), (f"{spread} n={arm.n}", "dim"))


def track(stage: str) -> Text:
    """The stages in order, with the one that runs."""
    reached = next((i for i, (_, stages) in enumerate(_TRACK) if stage in stages), 0)
    text = Text()
    for index, (title, _) in enumerate(_TRACK):
        if index:
            text.append("  ")
        if index < reached or stage == "done":
            text.append(f"✓ {title}", style="green")
        elif index == reached:
            text.append(f"● {title}", style="bold cyan")
        else:
            text.append(title, style="dim")
    return text


def _clock(progress: StudyProgress) -> Text:
    minutes, seconds = divmod(int(progress.elapsed), 60)
    left = progress.remaining()
    rest = f", about {duration(left)} left" if left else ""
    return Text(f"{minutes}:{seconds:02d} elapsed{rest}", style="dim")


def verdict_line(hypothesis: Mapping[str, Any]) -> Text:
    """`H1 supported  effect +0.061, interval +0.020 to +0.102`."""
    verdict = hypothesis["verdict"]
    style = f"bold {_COLOURS.get(verdict, 'yellow')}"
    line = Text.assemble((f"{hypothesis['id']}  ", "bold"), (verdict, style))
    if hypothesis["effect"] is not None:
        line.append(f"  effect {hypothesis['effect']:+.3f}")
    if hypothesis["interval"] is not None:
        low, high = hypothesis["interval"]
        line.append(f", interval {low:+.3f} to {high:+.3f}")
    return line
