"""`autoresearch`: the commands, and what their endings mean to a shell."""

from typing import ClassVar

import typer

from autoresearch.study.endings import Leased
from swarm.cli.lazy import Entry, LazyGroup
from swarm.cli.main import run

DONE, FAILED, BAD_INPUT, PAUSED, BUDGET, LEASED = range(6)


class Commands(LazyGroup):
    package = __package__
    entries: ClassVar = {
        "start": Entry(".start:start", "Plan a study on TOPIC, train, decide, and write a report."),
        "list": Entry(".studies:list_studies", "All studies of this folder, newest first."),
        "status": Entry(
            ".studies:status", "How far a study is, what it found, and what went wrong."
        ),
        "logs": Entry(".studies:logs", "What happened in a study, oldest first."),
        "resume": Entry(
            ".start:resume", "Go on with a study that was paused, killed, or ran out of budget."
        ),
        "pause": Entry(
            ".studies:pause", "Stop a running study for now; `resume` goes on where it stopped."
        ),
        "stop": Entry(".studies:stop", "End a study for good, without verdicts; its data stay."),
        "ui": Entry(
            ".ui:ui",
            "Start MLflow's UI and print the page of the newest study's runs; Ctrl-C ends it.",
        ),
        "mlflow": Entry(
            ".mlflow:mlflow", "Add what MLflow lacks of a study, from its run folders."
        ),
        "doctor": Entry(
            ".doctor:doctor",
            "Check Python, torch, Ray, MLflow, the ledger, disk and models. "
            "Exit code 1 if one fails.",
        ),
        "report": Entry(".report:app", "Read, rebuild, verify and compare reports."),
        "playbook": Entry(".playbook:app", "Templates of studies."),
        "model": Entry(".model:app", "Base models: what is here, building one, fetching one."),
    }


app = typer.Typer(
    name="autoresearch",
    cls=Commands,
    callback=lambda: None,
    help="From a research question on RL for language models to a report that can be checked.",
    epilog="Exit codes: 0 done, 1 failed, 2 bad input, 3 paused, 4 budget exhausted, "
    "5 held by another process.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # half of the time that `--help` takes
)


def main() -> None:
    """Run the command line; errors that a user can act on become one line and an exit code."""
    run(app, _held)


def _held(error: Exception) -> int | None:
    """The exit code of a study that another process holds; None for any other error."""
    return LEASED if isinstance(error, Leased) else None


if __name__ == "__main__":
    main()
