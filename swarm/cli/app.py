"""`swarm`: train, fine-tune or evaluate from one YAML file."""

from typing import ClassVar

import typer

from swarm.cli.lazy import Entry, LazyGroup
from swarm.cli.main import run
from swarm.errors import Interrupted

DONE, FAILED, BAD_INPUT, PAUSED = range(4)


class Commands(LazyGroup):
    package = __package__
    entries: ClassVar = {
        "train": Entry(".commands:train", "Train a policy by reinforcement."),
        "sft": Entry(
            ".commands:sft",
            "Fine-tune on the task's demonstrations or answers, whatever algorithm the file names.",
        ),
        "eval": Entry(
            ".commands:evaluate",
            "Evaluate the base model, or an adapter on it, on the task's held-out prompts.",
        ),
    }


app = typer.Typer(
    name="swarm",
    cls=Commands,
    callback=lambda: None,
    help="Reinforcement learning and fine-tuning of language models from one YAML file.",
    epilog="Exit codes: 0 done, 1 failed or diverged, 2 bad input, 3 interrupted and saved.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # half of the time that `--help` takes
)


def main() -> None:
    """Run the command line; errors that a user can act on become one line and an exit code."""
    run(app, _paused)


def _paused(error: Exception) -> int | None:
    """The exit code of a run that a signal ended; None for any other error."""
    return PAUSED if isinstance(error, Interrupted) else None


if __name__ == "__main__":
    main()
