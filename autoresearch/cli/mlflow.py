"""`autoresearch mlflow`: a study's curves in MLflow, written again from its run folders."""

import json
import os
from pathlib import Path

import typer

from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import InfrastructureError, Refusal


def mlflow(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Add what MLflow lacks of a study, from its run folders."""
    home = Home.locate(os.environ, Path.cwd())
    ledger = Ledger.open(home)
    facts, driven = ledger.facts(study), ledger.is_driven(study)
    verdicts = {row["hypothesis"]: row["verdict"] for row in ledger.verdicts(study)}
    ledger.close()
    if driven:
        problem = f"{study} runs, and its process writes to MLflow itself"
        raise Refusal("study", problem, f"wait for it, or: autoresearch pause {study}")
    home.check_writable()
    from autoresearch.execute.projector import rebuild

    try:
        rebuild(facts, verdicts, home)
    except Refusal:
        raise
    except Exception as error:  # MLflow and its databases have errors of their own
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InfrastructureError(f"MLflow could not be written ({why}); try again") from error
    attempts = sum(len(trial.attempts) for trial in facts.trials)
    if as_json:
        document = {"study": study, "mlflow": home.mlflow_uri, "attempts": attempts}
        typer.echo(json.dumps(document, indent=2))
        return
    typer.echo(f"{attempts} attempts of {study} are in {home.mlflow_uri}; see: autoresearch ui")
