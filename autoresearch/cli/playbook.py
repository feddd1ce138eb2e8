"""`autoresearch playbook`: list, show, write and check playbooks."""

import re
import sys
from pathlib import Path
from typing import Any, Literal

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table
from ruamel.yaml import YAML

from autoresearch.cli import planview
from autoresearch.planner.lint_playbook import lint as problems_of
from autoresearch.planner.lint_playbook import own_plan
from autoresearch.planner.preview import preview
from autoresearch.playbook import Library, Playbook, PlaybookInfo, json_schema
from autoresearch.playbook.scaffold import scaffold
from autoresearch.study.options import StartOptions
from swarm.cli.documents import print_document
from swarm.disk.folder import write_atomically
from swarm.errors import Refusal

BAD_INPUT = 2
ProfileName = Literal["smoke", "quick", "full"]

app = typer.Typer(help="Templates of studies.", no_args_is_help=True)


@app.command("list")
def list_playbooks(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List the playbooks of the working folder, of the user, and the built-in ones."""
    infos = Library.locate().infos()
    if as_json:
        print_document([_row(info) for info in infos])
        return
    table = Table("id", "question", "factors", "from", box=None, header_style="bold")
    for info in infos:
        row = _row(info)
        factors = ", ".join(row["factors"]) or "any"
        asked = escape(info.problem or row["question"] or row["title"])
        style = "red" if info.problem else None
        table.add_row(info.id, asked, factors, info.origin, style=style)
    Console(highlight=False).print(table)


@app.command()
def show(
    ref: str | None = typer.Argument(None, metavar="ID", help="A playbook's id or file."),
    resolved: bool = typer.Option(False, help="The YAML with everything it extends merged in."),
    plan: bool = typer.Option(False, help="The plan that it makes of its own question."),
    schema: bool = typer.Option(False, help="The JSON Schema of playbook files, for editors."),
    profile: ProfileName = typer.Option("quick", help="The profile of --plan."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Show a playbook: its question, factors and hypotheses, and how to judge the outcome."""
    if schema:
        print_document(json_schema())
        return
    if ref is None:
        raise Refusal("playbook", "which one?", "see: autoresearch playbook list")
    playbook = Library.locate().load(ref)
    if plan and as_json:
        print_document(preview(own_plan(playbook, profile)))
    elif plan:
        shown = planview.render(own_plan(playbook, profile), None, None)
        Console(highlight=False).print(shown)
    elif as_json:
        print_document(_document(playbook))
    elif resolved:
        yaml = YAML()
        yaml.width = 100
        yaml.dump(_document(playbook), sys.stdout)
    else:
        _summarise(playbook)


@app.command()
def new(
    name: str = typer.Argument(..., help="Id of the new playbook: my-question."),
    source: str | None = typer.Option(None, "--from", metavar="ID", help="Start from this one."),
    topic: str | None = typer.Option(None, help="Start from the plan of this question."),
) -> None:
    """Write a commented playbook into ./playbooks; start from a playbook or from a topic."""
    library = Library.locate()
    _check_new(name, source, topic, library)
    if topic is not None:
        from autoresearch.planner.planning import plan_study

        plan = plan_study(StartOptions(topic=topic), library).plan
        parent = library.load(plan.playbook)
    else:
        parent = library.load(str(source))
        plan = own_plan(parent, "quick")
    folder = Path.cwd() / "playbooks"
    if folder.exists() and not folder.is_dir():
        raise Refusal("new", f"{folder} is not a folder", "move it, or work in another folder")
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    write_atomically(path, scaffold(name, parent, plan, own_plan(parent, "quick")))
    typer.echo(f"wrote playbooks/{path.name}; check it with: autoresearch playbook lint {name}")


@app.command()
def lint(
    ref: str | None = typer.Argument(None, metavar="[PATH|ID]", help="Default: all of them."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Check playbooks. Exit code 0 when clean (warnings allowed), 2 on errors."""
    library = Library.locate()
    paths = [library.path(ref)] if ref else [info.path for info in library.infos()]
    found = {path: problems_of(path, library) for path in paths}
    broken = any(p.severity == "error" for problems in found.values() for p in problems)
    if as_json:
        shown = ("line", "code", "severity", "message")
        rows = [
            {"path": str(path)} | {name: getattr(problem, name) for name in shown}
            for path, problems in found.items()
            for problem in problems
        ]
        print_document({"clean": not broken, "problems": rows})
    else:
        for path, problems in found.items():
            for p in problems:
                line = f"{_short(path)}:{p.line}: {p.severity} {p.code} {p.message}"
                typer.echo(line, err=True)
        if not broken:
            typer.echo(f"{len(paths)} clean" if len(paths) > 1 else f"{_short(paths[0])}: clean")
    if broken:
        raise typer.Exit(BAD_INPUT)


def _row(info: PlaybookInfo) -> dict[str, Any]:
    playbook = info.playbook
    quick = playbook.profiles.get("quick") if playbook else None
    return {
        "id": info.id,
        "title": playbook.title if playbook else "",
        "question": playbook.question if playbook else "",
        "factors": [f.name for f in playbook.factors] if playbook else [],
        "quick_minutes": quick.minutes if quick else None,
        "origin": info.origin,
        "path": str(info.path),
        "problem": info.problem,
    }


def _short(path: Path) -> str:
    """The path as a user would type it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _document(playbook: Playbook) -> dict[str, Any]:
    document = playbook.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: value for key, value in document.items() if value not in ({}, [], "")}


def _summarise(playbook: Playbook) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{playbook.id}[/bold]  {playbook.title}")
    if playbook.question:
        console.print(playbook.question)
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for factor in playbook.factors:
        levels = "usual" if factor.levels is None else ", ".join(map(str, factor.levels))
        facts.add_row("factor", f"{factor.name}: {levels}")
    facts.add_row("metric", playbook.primary.metric)
    facts.add_row("tasks", ", ".join(playbook.tasks))
    for name, profile in playbook.profiles.items():
        looks = "/".join(map(str, profile.looks))
        facts.add_row(name, f"{profile.pilot} pilot seeds, {looks} seeds an arm")
    console.print(facts)
    if playbook.body:
        console.print(Markdown(playbook.body))


def _check_new(name: str, source: str | None, topic: str | None, library: Library) -> None:
    if (source is None) == (topic is None):
        raise Refusal("new", "it starts from one thing", "give --from ID or --topic TEXT")
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise Refusal(
            "name", f"{name!r} is not a valid id", "use lower-case letters, digits and hyphens"
        )
    if (
        any(info.id == name for info in library.infos())
        or (Path.cwd() / "playbooks" / f"{name}.yaml").exists()
    ):
        raise Refusal("name", f"{name!r} names a playbook already", "choose another name")
