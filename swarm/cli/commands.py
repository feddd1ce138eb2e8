"""`swarm train`, `sft` and `eval`. Torch is imported once a config is known to be good."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import typer
from ruamel.yaml import YAML

from swarm import models
from swarm.cli.config_file import read_file
from swarm.cli.console import steps_shown
from swarm.config.base import EVERY
from swarm.config.extension import check_continues
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

FAILED = 1

FILE = typer.Argument(..., help="YAML file of a TrainConfig; an empty one takes all defaults.")
OUT = typer.Option(None, metavar="FOLDER", help="Run folder. Default: a new one below runs/swarm.")
RESUME = typer.Option(False, help="Go on in --out from its last checkpoint.")
RESTART = typer.Option(False, help="Start over in --out: what its run has saved is erased.")
CHECKPOINTS = typer.Option(
    None,
    metavar="URL",
    help="Where checkpoints go: a folder, or a URL that fsspec knows. Default: the run folder.",
)
DRY_RUN = typer.Option(False, help="Print the resolved config and touch nothing.")
SET = typer.Option([], "--set", metavar="PATH=VALUE", help="Set one value. Repeatable.")
JSON = typer.Option(False, "--json", help="Print one JSON document and nothing else.")


def _trainer(about: str, *, supervised: bool) -> Callable[..., None]:
    """A command that trains; `about` is its help."""

    def command(
        config: Path = FILE,
        out: str | None = OUT,
        resume: bool = RESUME,
        restart: bool = RESTART,
        checkpoints: str | None = CHECKPOINTS,
        dry_run: bool = DRY_RUN,
        set_: list[str] = SET,
        as_json: bool = JSON,
    ) -> None:
        resolved = read_file(config, set_, supervised=supervised)
        given = _given(out)
        again = _resumed(resolved, given) if resume or restart else None
        place = _fresh(resolved, config, given) if again is None else nullcontext(again)
        if checkpoints is not None:
            _check_lasting(checkpoints)
        if dry_run:
            _show(resolved, as_json)
            return
        if again is not None and not restart and manifest_digest(again):
            result = read_result(again)
        else:
            result = None
        if again is None or result is None:
            why = "asked for with --restart" if restart else ""
            again, result = _train(resolved, place, again, checkpoints, why, as_json)
        _show_end(again, result, as_json)
        if result.status != "finished":
            raise typer.Exit(FAILED)

    command.__doc__ = about
    return command


train = _trainer("Train a policy by reinforcement.", supervised=False)
sft = _trainer(
    "Fine-tune on the task's demonstrations or answers, whatever algorithm the file names.",
    supervised=True,
)


def evaluate(
    config: Path = FILE,
    adapter: Path | None = typer.Option(
        None, help="A folder of a LoRA adapter or of all weights, or a run's."
    ),
    greedy: bool = typer.Option(False, help="Take the likeliest token instead of sampling."),
    dry_run: bool = DRY_RUN,
    set_: list[str] = SET,
    as_json: bool = JSON,
) -> None:
    """Evaluate the base model, or an adapter on it, on the task's held-out prompts."""
    resolved = read_file(config, set_)
    if dry_run:
        _show(resolved, as_json)
        return
    _quiet()
    from swarm.train.evaluate import evaluate as measure

    found = measure(resolved, adapter, greedy)
    if as_json:
        typer.echo(json.dumps(_finite(asdict(found)), indent=2))
        return
    how = "greedy" if greedy else "sampled at temperature 1"
    typer.echo(
        f"avg@1 {found.accuracy:.3f}, 95 % interval {found.low:.3f} to {found.high:.3f}, "
        f"on {found.n} held-out prompts, {how}"
    )
    typer.echo(
        f"reward {found.reward:.3f}, {found.mean_length:.1f} tokens an answer, "
        f"{found.truncated:.1%} cut off"
    )


def _train(
    config: TrainConfig,
    place: AbstractContextManager[Path],
    earlier: Path | None,
    checkpoints: str | None,
    restart: str,
    as_json: bool,
) -> tuple[Path, RunResult]:
    """Train in the folder of `place`, going on from `earlier`."""
    _quiet()
    from swarm.policy.base_model import usable_device
    from swarm.train.loop import train

    usable_device(config.device)
    with place as folder, steps_shown(config.steps, sys.stdout, silent=as_json) as on_step:

        def begun() -> None:
            if not as_json:
                typer.echo(f"{config.algorithm.name} on {config.task.ref} with {config.model.ref}")
                typer.echo(f"run folder {folder}")
                if models.folder(config.model.ref) is None:
                    typer.echo(f"{config.model.ref} is not here yet: it is fetched once")

        return folder, train(
            config,
            folder,
            resume_from=earlier,
            checkpoints=checkpoints,
            restart=restart,
            on_begin=begun,
            on_step=on_step,
            tell=(lambda line: None) if as_json else typer.echo,
        )


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
    changed = first_difference(read_config(out), config)
    if changed is not None:
        raise Refusal(changed, f"{out} was started with another value", "train into a new folder")
    return out


def _ended(config: TrainConfig, folder: Path) -> RunResult | None:
    """How the run in `folder` ended, if it did and is not asked for more steps now."""
    result = read_result(folder) if manifest_digest(folder) else None
    more = result is not None and result.status == "finished" and result.steps < config.steps
    return None if more else result


def _show(config: TrainConfig, as_json: bool) -> None:
    document = config.model_dump(mode="json", context=EVERY)
    if as_json:
        typer.echo(json.dumps(document, indent=2))
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
        typer.echo(json.dumps(document, indent=2))
        return
    cause = f": {result.cause}" if result.cause else ""
    typer.echo(f"{result.status} after {result.steps} steps, {result.seconds:.0f} s{cause}")
    if first is not None and last is not None:
        typer.echo(f"held-out accuracy {first:.3f} before, {last:.3f} now")
    for line in _passed_over(folder):
        typer.echo(line)
    typer.echo(f"weights {folder / ADAPTER}")
    if result.status == "diverged":
        typer.echo(f"the batch that broke it {folder / DIVERGED}")


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


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: what could not be measured is null."""
    return {name: None if value != value else value for name, value in values.items()}
