"""`autoresearch`: the commands, and what their endings mean to a shell."""

import typer

from autoresearch.cli import doctor, model, playbook, report, start, studies, ui
from swarm.cli.main import run

DONE, FAILED, BAD_INPUT, PAUSED, BUDGET, LEASED = range(6)

app = typer.Typer(
    name="autoresearch",
    help="From a research question on RL for language models to a report that can be checked.",
    epilog="Exit codes: 0 done, 1 failed, 2 bad input, 3 paused, 4 budget exhausted, "
    "5 held by another process.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # half of the time that `--help` takes
)
app.command("start")(start.start)
app.command("list")(studies.list_studies)
app.command("status")(studies.status)
app.command("logs")(studies.logs)
app.command("resume")(start.resume)
app.command("pause")(studies.pause)
app.command("stop")(studies.stop)
app.add_typer(report.app, name="report")
app.add_typer(playbook.app, name="playbook")
app.add_typer(model.app, name="model")
app.command("ui")(ui.ui)
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command line; errors that a user can act on become one line and an exit code."""
    run(app, _held)


def _held(error: Exception) -> int | None:
    """The exit code of a study that another process holds; None for any other error."""
    from autoresearch.study.endings import Leased

    return LEASED if isinstance(error, Leased) else None


if __name__ == "__main__":
    main()
