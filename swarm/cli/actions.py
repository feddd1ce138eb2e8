"""What `swarm train`, `sft` and `eval` do. Torch is imported once a config is known to be good."""

import os
import sys
from dataclasses import asdict
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
from swarm.config.paths import first_difference
from swarm.config.train import TrainConfig
from swarm.disk.folder import (
    ADAPTER,
    CONFIG,
    DIVERGED,
    METRICS,
    RunResult,
    manifest_digest,
    read_result,
    read_series,
)
from swarm.disk.run_config import read_config
from swarm.disk.storage import Storage
from swarm.errors import Refusal

if TYPE_CHECKING:
    from swarm.train.alarms import Alarm

FAILED = 1


def run_trainer(
    config: Path,
    out: Path | None,
    resume: bool,
    checkpoints: str | None,
    dry_run: bool,
    pairs: list[str],
    as_json: bool,
    *,
    supervised: bool,
) -> None:
    """Train as the file and the options say; see `swarm.cli.commands`. Raises Refusal, and Exit
    where the run does not finish."""
    resolved = read_file(config, pairs, supervised=supervised)
    folder = _resumed(resolved, out) if resume else _fresh(resolved, config, out)
    if checkpoints is not None:
        Storage(checkpoints).check_writable()
    if dry_run:
        _show(resolved, as_json)
        return
    sealed = read_result(folder) if resume and manifest_digest(folder) else None
    result = sealed or _train(resolved, folder, resume, checkpoints, as_json)
    _show_end(folder, result, as_json)
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
    judged."""
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
    if not found.n:
        raise typer.Exit(FAILED)


def _train(
    config: TrainConfig, folder: Path, resume: bool, checkpoints: str | None, as_json: bool
) -> RunResult:
    _quiet()
    from swarm.policy.base_model import usable_device
    from swarm.train.loop import train

    usable_device(config.device)
    if not as_json:
        typer.echo(f"{config.algorithm.name} on {config.task.ref} with {config.model.ref}")
        typer.echo(f"run folder {folder}")
        if models.folder(config.model.ref) is None:
            typer.echo(f"{config.model.ref} is not here yet: it is fetched once")
    with (
        stop_signals() as stop,
        steps_shown(config.steps, sys.stdout, silent=as_json) as on_step,
    ):
        return train(
            config,
            folder,
            resume_from=folder if resume else None,
            checkpoints=checkpoints,
            on_step=on_step,
            on_alarm=_say,
            stop=stop,
        )


def _say(alarm: "Alarm") -> None:
    """What looks wrong, on stderr while the run goes on."""
    typer.echo(f"alarm at step {alarm.step}: {alarm.kind}: {alarm.cause}", err=True)


def _fresh(config: TrainConfig, file: Path, out: Path | None) -> Path:
    """The folder asked for, if it holds no run; else a new one named after file and config."""
    if out is not None:
        parent = next(path for path in (out, *out.absolute().parents) if path.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            raise Refusal(
                "out", f"{parent} is not a folder that can be written", "choose another folder"
            )
        if (out / METRICS).exists():
            raise Refusal("out", f"{out} holds a run", "add --resume, or choose another folder")
        return out
    task = Path(config.task.ref.rpartition("/")[2]).name.replace(":", "-")
    name = f"{file.stem}-{config.algorithm.name}-{task}-seed{config.seed}"
    runs = Path("runs") / "swarm"
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(folder for folder in (runs / each for each in names) if not folder.exists())


def _resumed(config: TrainConfig, out: Path | None) -> Path:
    """The folder of the run to go on with, trained so far with this very config."""
    if out is None or not (out / CONFIG).is_file():
        raise Refusal("out", "--resume needs the folder of a run", "give it with --out FOLDER")
    changed = first_difference(read_config(out), config)
    if changed is not None:
        raise Refusal(changed, f"{out} was started with another value", "train into a new folder")
    return out


def _show(config: TrainConfig, as_json: bool) -> None:
    document = config.model_dump(mode="json")
    if as_json:
        print_document(document)
        return
    YAML(typ="safe").dump(document, sys.stdout)


def _show_end(folder: Path, result: RunResult, as_json: bool) -> None:
    """How the run ended and its last evaluation."""
    series = read_series(folder, "eval/acc")
    first, last = (series[0][2], series[-1][2]) if series else (None, None)
    if as_json:
        document = {
            **asdict(result),
            "folder": str(folder),
            "adapter": str(folder / ADAPTER),
            "batch": str(folder / DIVERGED) if result.status == "diverged" else None,
            "eval/acc": {"first": first, "last": last},
        }
        print_document(document)
        return
    cause = f": {result.cause}" if result.cause else ""
    typer.echo(f"{result.status} after {result.steps} steps, {result.seconds:.0f} s{cause}")
    if first is not None and last is not None:
        typer.echo(f"held-out accuracy {measured(first)} before, {measured(last)} now")
    typer.echo(f"weights {folder / ADAPTER}")
    if result.status == "diverged":
        typer.echo(f"the batch that broke it {folder / DIVERGED}")


def _quiet() -> None:
    """Keep the bars and warnings of libraries off the screen. Before they are imported."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()
