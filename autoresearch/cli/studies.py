"""`autoresearch list`, `status`, `logs`, `pause` and `stop`: studies that exist already."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from autoresearch.cli.statusview import as_document, next_step, render, state
from autoresearch.study.endings import Leased
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.cli.documents import print_document
from swarm.errors import Refusal

_POLL_SECONDS = 0.5
#: How long `logs -f` waits for a driver: one that was just detached needs a moment.
_QUIET_SECONDS = 5.0
_STOP_SECONDS = 60.0

#: What to do with a study in a status, as the end of an error line.
_NEXT = {
    "paused": "go on with `autoresearch resume`",
    "interrupted": "go on with `autoresearch resume`",
    "stopped": "start a new one",
    "failed": "see `autoresearch status`, then `autoresearch resume`",
    "done": "see `autoresearch report show`",
}


def list_studies(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """All studies of this folder, newest first."""
    home = _home()
    ledger = Ledger.open(home)
    found = [
        (facts, state(facts, ledger.is_driven(facts.study)))
        for facts in sorted(ledger.studies(), key=lambda f: f.created_at, reverse=True)
    ]
    if as_json:
        rows = [
            {
                "study": facts.study,
                "topic": facts.topic,
                "stage": facts.stage,
                "created_at": facts.created_at,
                "status": now,
            }
            for facts, now in found
        ]
        print_document({"studies": rows})
        return
    console = Console(highlight=False)
    if not found:
        console.print(f'no study in {home.root} yet; begin with: autoresearch start "TOPIC"')
    for facts, now in found:
        head = Text.assemble((facts.study, "bold"), f"  {now}")
        if now != "done":
            head.append(f" at {facts.stage}")
        console.print(head.append(f"  {_when(facts.created_at)}", style="dim"), soft_wrap=True)
        console.print(Text(f"  {facts.topic}"), soft_wrap=True)


def status(
    study: str | None = typer.Argument(
        None, metavar="STUDY", help="Its id; default: the newest one."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """How far a study is, what it found, and what went wrong."""
    home = _home()
    ledger = Ledger.open(home)
    if study is None:
        known = ledger.studies()
        if not known:
            raise Refusal(
                "study", f"there is none in {home.root}", 'run autoresearch start "TOPIC"'
            )
        study = max(known, key=lambda facts: facts.created_at).study
    facts, verdicts = ledger.facts(study), ledger.verdicts(study)
    driven = ledger.is_driven(study)
    if as_json:
        print_document(as_document(facts, verdicts, driven, home))
    else:
        console = Console(highlight=False)
        console.print(render(facts, verdicts, driven))
        console.print(next_step(facts, driven, home), soft_wrap=True)


def logs(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Go on until the study ends."),
    raw: bool = typer.Option(
        False, "--raw", help="What Ray, MLflow and the libraries printed instead."
    ),
) -> None:
    """What happened in a study, oldest first."""
    home = _home()
    ledger = Ledger.open(home)
    shown, quiet_since = 0, time.monotonic()
    while True:
        facts = ledger.facts(study)
        lines = _raw_lines(home.log(study)) if raw else [_event(event) for event in facts.events]
        for line in lines[shown:]:
            typer.echo(line)
        shown = len(lines)
        if ledger.is_driven(study):
            quiet_since = time.monotonic()
        quiet = time.monotonic() - quiet_since > _QUIET_SECONDS
        if not follow or facts.status != "running" or quiet:
            return
        time.sleep(_POLL_SECONDS)


def pause(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
) -> None:
    """Stop a running study for now; `resume` goes on where it stopped."""
    home = _home()
    ledger = Ledger.open(home)
    now = state(ledger.facts(study), ledger.is_driven(study))
    if now != "running":
        raise Refusal("study", f"{study} is not running but {now}", _NEXT[now])
    _ask_to_pause(home, study)
    typer.echo(f"{study} pauses; go on with: autoresearch resume {study}")


def stop(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
) -> None:
    """End a study for good, without verdicts; its data stay."""
    home = _home()
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    if facts.status in ("done", "stopped"):
        raise Refusal("study", f"{study} is {facts.status} already", _NEXT[facts.status])
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


def _home() -> Home:
    return Home.locate(os.environ, Path.cwd())


def _ask_to_pause(home: Home, study: str) -> None:
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
