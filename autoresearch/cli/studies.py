"""`autoresearch list`, `status`, `logs`, `pause` and `stop`: studies that exist already."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from autoresearch.study.facts import StudyFacts
    from autoresearch.study.paths import Home

_POLL_SECONDS = 0.5
_STOP_SECONDS = 60.0

#: What to do with a study in a status, as the end of an error line.
_NEXT = {
    "paused": "go on with `autoresearch resume`",
    "stopped": "start a new one",
    "failed": "see `autoresearch status`, then `autoresearch resume`",
    "done": "see `autoresearch report show`",
}


def list_studies(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """All studies of this folder, newest first."""
    from rich.console import Console
    from rich.table import Table

    from autoresearch.study.ledger import Ledger

    home = _home()
    found = sorted(Ledger.open(home).studies(), key=lambda f: f.created_at, reverse=True)
    if as_json:
        typer.echo(json.dumps({"studies": [_light(facts) for facts in found]}, indent=2))
        return
    console = Console(highlight=False)
    if not found:
        console.print(f'no study in {home.root} yet; begin with: autoresearch start "TOPIC"')
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("study", "status", "stage", "started", "topic"):
        table.add_column(column, no_wrap=column != "topic")
    for facts in found:
        table.add_row(facts.study, facts.status, facts.stage, _when(facts.created_at), facts.topic)
    console.print(table)


def status(
    study: str | None = typer.Argument(None, help="The study's id; default: the newest one."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """How far a study is, what it found, and what went wrong."""
    from rich.console import Console

    from autoresearch.cli.statusview import as_document, render
    from autoresearch.study.errors import BadInput
    from autoresearch.study.ledger import Ledger

    home = _home()
    ledger = Ledger.open(home)
    if study is None:
        known = ledger.studies()
        if not known:
            raise BadInput(
                "study", f"there is none in {home.root}", 'run autoresearch start "TOPIC"'
            )
        study = max(known, key=lambda facts: facts.created_at).study
    facts, verdicts = ledger.facts(study), ledger.verdicts(study)
    if as_json:
        typer.echo(json.dumps(as_document(facts, verdicts, home), indent=2))
    else:
        Console(highlight=False).print(render(facts, verdicts, home), soft_wrap=True)


def logs(
    study: str = typer.Argument(..., help="The study's id."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Go on until the study ends."),
    raw: bool = typer.Option(False, help="What Ray, MLflow and the libraries printed instead."),
) -> None:
    """What happened in a study, oldest first."""
    from autoresearch.study.ledger import Ledger

    home = _home()
    ledger = Ledger.open(home)
    shown = 0
    while True:
        facts = ledger.facts(study)
        over = not follow or facts.status != "running"
        lines = _raw_lines(home.log(study)) if raw else [_event(event) for event in facts.events]
        for line in lines[shown:]:
            typer.echo(line)
        shown = len(lines)
        if over:
            return
        time.sleep(_POLL_SECONDS)


def pause(study: str = typer.Argument(..., help="The study's id.")) -> None:
    """Stop a running study for now; `resume` goes on where it stopped."""
    from autoresearch.study.errors import BadInput
    from autoresearch.study.ledger import Ledger

    home = _home()
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    if facts.status != "running":
        raise BadInput("study", f"{study} is not running but {facts.status}", _NEXT[facts.status])
    _ask_to_pause(home, study)
    typer.echo(f"{study} pauses; go on with: autoresearch resume {study}")


def stop(study: str = typer.Argument(..., help="The study's id.")) -> None:
    """End a study for good, without verdicts; its data stay."""
    from autoresearch.study.errors import BadInput, Leased
    from autoresearch.study.ledger import Ledger

    home = _home()
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    if facts.status in ("done", "stopped"):
        raise BadInput("study", f"{study} is {facts.status} already", _NEXT[facts.status])
    deadline = time.monotonic() + _STOP_SECONDS
    while True:
        try:
            with ledger.hold(study):
                home.pause_flag(study).unlink(missing_ok=True)
                ledger.set_status(study, "stopped", cause="stopped by the user")
                break
        except Leased:
            if time.monotonic() > deadline:
                raise
            _ask_to_pause(home, study)
            time.sleep(_POLL_SECONDS)
    typer.echo(f"{study} is stopped; its data stay in {home.study(study)}")


def _home() -> "Home":
    from autoresearch.study.paths import Home

    return Home.locate(os.environ, Path.cwd())


def _ask_to_pause(home: "Home", study: str) -> None:
    flag = home.pause_flag(study)
    flag.parent.mkdir(parents=True, exist_ok=True)
    flag.touch()


def _raw_lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []


def _event(event: Mapping[str, Any]) -> str:
    """One line: when, what, details."""
    detail = dict(event["detail"])
    text = str(detail.pop("text", ""))
    rest = ", ".join(f"{name} {value}" for name, value in detail.items())
    return f"{_when(event['time'])}  {event['kind']:<12} {', '.join(filter(None, (text, rest)))}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _light(facts: "StudyFacts") -> dict[str, Any]:
    return {
        "study": facts.study,
        "topic": facts.topic,
        "status": facts.status,
        "stage": facts.stage,
        "created_at": facts.created_at,
    }
