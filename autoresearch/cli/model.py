"""`autoresearch model`: the base models that this machine can train without a hub."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

app = typer.Typer(help="Base models: what is built, and building it.", no_args_is_help=True)


@app.command("list")
def list_models(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Models that can be trained here, and whether they are built."""
    from swarm.models import tiny

    rows = [
        {
            "name": tiny.NAME,
            "built": tiny.is_built(),
            "folder": str(tiny.path()),
            "about": "character-level Llama of about 0.8 M parameters, built by a seeded recipe",
        }
    ]
    if as_json:
        typer.echo(json.dumps({"models": rows}, indent=2))
        return
    console = Console(highlight=False)
    for row in rows:
        state = "[green]built[/]" if row["built"] else "not built yet"
        console.print(f"[b]{row['name']}[/b]  {state}  {row['about']}")
        console.print(f"      {row['folder']}", style="dim", soft_wrap=True)
    console.print("A local folder in Hugging Face format works too: --model PATH", style="dim")


@app.command("build")
def build(name: str = typer.Argument("tiny", help="Which model to build.")) -> None:
    """Build a model now instead of at its first use."""
    from autoresearch.study.errors import BadInput
    from swarm.models import tiny

    if name != tiny.NAME:
        raise BadInput(
            "model", f"{name!r} has no recipe", f"the model that is built is {tiny.NAME}"
        )
    console = Console(highlight=False)
    with building(console) as progress:
        folder = tiny.ensure(progress)
    console.print(f"{name} is in {folder}", soft_wrap=True)


@contextmanager
def building(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A progress bar that appears with the first step that it is told of."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

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
