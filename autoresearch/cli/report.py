"""`autoresearch report`: read, rebuild, verify and compare reports."""

import os
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.markdown import Markdown

from autoresearch import report
from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.trials_csv import trials_csv
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import Refusal

app = typer.Typer(help="Read, rebuild, verify and compare reports.", no_args_is_help=True)

_STUDY = typer.Argument(..., help="The study's id.")


@app.command()
def show(
    study: str = _STUDY,
    as_csv: bool = typer.Option(False, "--csv", help="Print the trials as CSV instead."),
    as_json: bool = typer.Option(False, "--json", help="Print claims.json instead."),
) -> None:
    """Print a study's report."""
    home, facts = _facts(study)
    if as_csv:
        sys.stdout.write(trials_csv(facts))
        return
    path = _report_file(home, study, "claims.json" if as_json else "report.md")
    text = path.read_text("utf-8", errors="replace")
    if as_json or not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    Console().print(Markdown(text))


@app.command()
def build(study: str = _STUDY) -> None:
    """Write the report again from the run folders."""
    home, facts = _planned(study)
    typer.echo(str(report.build(facts, home) / "report.md"))


@app.command()
def verify(study: str = _STUDY) -> None:
    """Recompute every claim from the run folders and compare the report byte for byte.

    Exits with 1 and the problems, one a line, where the report does not follow from its runs.
    """
    home, facts = _planned(study)
    _report_file(home, study, "report.md")
    problems = report.verify(facts, home)
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)
    counted = sum(trial.folder is not None for trial in facts.trials)
    typer.echo(f"verified: {study} follows from its {counted} runs")


@app.command()
def diff(
    study: str = _STUDY, other: str = typer.Argument(..., help="The study to compare it with.")
) -> None:
    """What the second study claims differently: verdicts, outcomes, rules and settings."""
    found = report.diff(_claims(study), _claims(other))
    for change in found:
        typer.echo(str(change))
    if not found:
        typer.echo("no difference beyond the intervals")


def _facts(study: str) -> tuple[Home, StudyFacts]:
    home = Home.locate(os.environ, Path.cwd())
    ledger = Ledger.open(home)
    try:
        return home, ledger.facts(study)
    finally:
        ledger.close()


def _planned(study: str) -> tuple[Home, StudyFacts]:
    home, facts = _facts(study)
    if facts.plan is None or facts.registration is None:
        raise Refusal("study", f"{study} is not registered yet", f"autoresearch resume {study}")
    return home, facts


def _report_file(home: Home, study: str, name: str) -> Path:
    path = home.report(study) / name
    if not path.is_file():
        raise Refusal("study", f"{study} has no {name}", f"autoresearch report build {study}")
    return path


def _claims(study: str) -> ClaimSet:
    home, _ = _facts(study)
    path = _report_file(home, study, "claims.json")
    try:
        return ClaimSet.from_json(path.read_text("utf-8"))
    except ValueError:
        raise Refusal(
            "study", f"{path} cannot be read", f"autoresearch report build {study}"
        ) from None
