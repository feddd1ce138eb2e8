"""What `swarm train`, `sft` and `eval` do. Torch is imported once a config is known to be good."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from ruamel.yaml import YAML

from swarm import models
from swarm.cli.config_file import read_file
from swarm.cli.console import evaluation_lines, measured, steps_shown
from swarm.cli.documents import print_document
from swarm.cli.stopping import stop_signals
from swarm.config.base import EVERY
from swarm.config.extension import check_continues
from swarm.config.parts import EvalSet
from swarm.config.train import TrainConfig
from swarm.disk.folder import (
    ADAPTER,
    CONFIG,
    DIVERGED,
    EVENTS,
    METRICS,
    RunResult,
    manifest_digest,
    read_result,
    read_rows,
    read_series,
)
from swarm.disk.ownership import check_place, unused
from swarm.disk.run_config import read_config
from swarm.disk.storage import Storage
from swarm.errors import BadStorage, Refusal

if TYPE_CHECKING:
    from swarm.train.curves import Alarm

FAILED = 1


@dataclass(frozen=True)
class Given:
    """What was typed after `swarm train` or `sft`; see `swarm.cli.commands`."""

    config: Path
    out: str | None
    resume: bool
    restart: bool
    checkpoints: str | None
    dry_run: bool
    pairs: list[str]
    as_json: bool


def run_trainer(given: Given, *, supervised: bool) -> None:
    """Train as the file and the options say. Raises Refusal, and Exit where the run does not
    finish."""
    config = read_file(given.config, given.pairs, supervised=supervised)
    out = _given(given.out)
    earlier = _resumed(config, out) if given.resume or given.restart else None
    place = _fresh(config, given.config, out) if earlier is None else nullcontext(earlier)
    if given.checkpoints is not None:
        _check_lasting(given.checkpoints)
    if given.dry_run:
        _show(config, given.as_json)
        return
    ended = None if earlier is None or given.restart else _ended(config, earlier)
    if earlier is not None and ended is not None:
        folder, result = earlier, ended
    else:
        folder, result = _train(config, place, earlier, given)
    _show_end(folder, result, given.as_json)
    if result.status != "finished":
        raise typer.Exit(FAILED)


def run_evaluation(
    config: Path,
    adapter: Path | None,
    greedy: bool,
    dry_run: bool,
    pairs: list[str],
    as_json: bool,
) -> None:
    """Evaluate as the file and the options say. Raises Refusal, and Exit where no answer was
    judged, or none of a set."""
    resolved = read_file(config, pairs)
    if dry_run:
        _show(resolved, as_json)
        return
    _quiet()
    from swarm.train.evaluate import evaluate as measure

    found = measure(resolved, adapter, greedy)
    for alarm in found.alarms:
        typer.echo(f"alarm: {alarm.kind}: {alarm.cause}", err=True)
    if as_json:
        print_document(asdict(found))
    else:
        how = "greedy" if greedy else "sampled at temperature 1"
        for line in evaluation_lines(found, how):
            typer.echo(line)
    if not found.n or not all(each.n for each in found.sets):
        raise typer.Exit(FAILED)


def _train(
    config: TrainConfig, place: AbstractContextManager[Path], earlier: Path | None, given: Given
) -> tuple[Path, RunResult]:
    """Train in the folder of `place`, going on from `earlier`."""
    _quiet()
    from swarm.policy.base_model import usable_device
    from swarm.train.loop import train

    usable_device(config.device)
    silent = given.as_json
    with (
        place as folder,
        stop_signals() as stop,
        steps_shown(config.steps, sys.stdout, silent=silent) as on_step,
    ):

        def begun() -> None:
            if not silent:
                typer.echo(f"{config.algorithm.name} on {config.task.ref} with {config.model.ref}")
                typer.echo(f"run folder {folder}")
                if models.folder(config.model.ref) is None:
                    typer.echo(f"{config.model.ref} is not here yet: it is fetched once")

        return folder, train(
            config,
            folder,
            resume_from=earlier,
            checkpoints=given.checkpoints,
            restart="asked for with --restart" if given.restart else "",
            on_begin=begun,
            on_step=on_step,
            on_alarm=_say,
            tell=(lambda line: None) if silent else typer.echo,
            stop=stop,
        )


def _say(alarm: "Alarm") -> None:
    """What looks wrong, on stderr while the run goes on."""
    typer.echo(f"alarm at step {alarm.step}: {alarm.kind}: {alarm.cause}", err=True)


def _given(out: str | None) -> Path | None:
    """The folder that `--out` names."""
    if out is not None and not out.strip():
        raise Refusal("out", "it names no folder", "give one, or leave --out out")
    return None if out is None else Path(out)


def _check_lasting(checkpoints: str) -> None:
    """Refuse a place that cannot be written, or that ends with this process."""
    if checkpoints.startswith("memory:"):
        raise BadStorage(checkpoints, "it is gone when this process ends", "give a folder or URL")
    Storage(checkpoints).check_writable()


def _fresh(config: TrainConfig, file: Path, out: Path | None) -> AbstractContextManager[Path]:
    """The folder asked for, if it holds no run; else a new one named after file and config."""
    if out is not None:
        check_place(out)
        if (out / METRICS).exists():
            problem = f"{out} holds a run"
            raise Refusal("out", problem, "add --resume or --restart, or choose another folder")
        return nullcontext(out)
    task = Path(config.task.ref.rpartition("/")[2]).name.replace(":", "-")
    runs = Path("runs") / "swarm"
    check_place(runs)
    name = f"{file.stem}-{config.algorithm.name}-{task}-seed{config.seed}"
    return unused(runs / (name if number == 1 else f"{name}-{number}") for number in count(1))


def _resumed(config: TrainConfig, out: Path | None) -> Path:
    """The folder of the run to go on with, trained so far with a config that this one continues."""
    if out is None or not (out / CONFIG).is_file():
        raise Refusal(
            "out", "--resume and --restart need the folder of a run", "give it with --out FOLDER"
        )
    check_continues(read_config(out), config, out)
    return out


def _ended(config: TrainConfig, folder: Path) -> RunResult | None:
    """How the run in `folder` ended, if it did and is not asked for more steps now."""
    result = read_result(folder) if manifest_digest(folder) else None
    more = result is not None and result.status == "finished" and result.steps < config.steps
    return None if more else result


def _show(config: TrainConfig, as_json: bool) -> None:
    document = config.model_dump(mode="json", context=EVERY)
    if as_json:
        print_document(document)
        return
    YAML(typ="safe").dump(document, sys.stdout)


def _show_end(folder: Path, result: RunResult, as_json: bool) -> None:
    """How the run ended and its last evaluation."""
    sets = {each.title: f"eval/{each.title}/avg@{each.k}" for each in _sets(folder)}
    named = {metric: _before_and_now(folder, metric) for metric in ("eval/acc", *sets.values())}
    if as_json:
        document = {
            **asdict(result),
            "folder": str(folder),
            "adapter": str(folder / ADAPTER),
            "batch": str(folder / DIVERGED) if result.status == "diverged" else None,
            **{metric: {"first": first, "last": last} for metric, (first, last) in named.items()},
        }
        print_document(document)
        return
    cause = f": {result.cause}" if result.cause else ""
    typer.echo(f"{result.status} after {result.steps} steps, {result.seconds:.0f} s{cause}")
    told = {"held-out accuracy": "eval/acc"}
    if sets:
        told = {f"{metric.rpartition('/')[2]} on {title}": metric for title, metric in sets.items()}
    for what, metric in told.items():
        first, last = named[metric]
        if first is not None and last is not None:
            typer.echo(f"{what} {measured(first)} before, {measured(last)} now")
    for line in _passed_over(folder):
        typer.echo(line)
    typer.echo(f"weights {folder / ADAPTER}")
    if result.status == "diverged":
        typer.echo(f"the batch that broke it {folder / DIVERGED}")


def _sets(folder: Path) -> tuple[EvalSet, ...]:
    return read_config(folder).evaluation.sets if (folder / CONFIG).is_file() else ()


def _before_and_now(folder: Path, metric: str) -> tuple[float | None, float | None]:
    """A metric's first and last value in a run; None where it was never logged."""
    series = read_series(folder, metric)
    return (series[0][2], series[-1][2]) if series else (None, None)


def _passed_over(folder: Path) -> Iterator[str]:
    """What sets the run apart from one without a break, a line each, since it last began."""
    lines: list[str] = []
    for row in read_rows(folder / EVENTS):
        detail = row["detail"]
        if row["kind"] == "started":
            lines = []
        elif row["kind"] == "damaged":
            steps = ", ".join(map(str, detail["steps"]))
            lines.append(f"the checkpoint of step {steps} is damaged; an earlier one was taken")
        elif row["kind"] == "inexact":
            lines.append(f"not exact (exact: false) after step {detail['step']}: {detail['text']}")
    yield from lines


def _quiet() -> None:
    """Keep the bars and warnings of libraries off the screen. Before they are imported."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()
