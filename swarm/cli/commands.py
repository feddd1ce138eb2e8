"""`swarm train`, `sft` and `eval` as they are typed. What they do is imported when one is run, so
that their help is quick."""

from collections.abc import Callable
from pathlib import Path

import typer

FILE = typer.Argument(..., help="YAML file of a TrainConfig; an empty one takes all defaults.")
OUT = typer.Option(None, metavar="FOLDER", help="Run folder. Default: a new one below runs/swarm.")
RESUME = typer.Option(
    False, help="Go on in --out from its last checkpoint, to more steps if they are set."
)
RESTART = typer.Option(False, help="Start over in --out: what its run has saved is erased.")
CHECKPOINTS = typer.Option(
    None,
    metavar="URL",
    help="Where checkpoints go: a folder, or a URL that fsspec knows. Default: the run folder.",
)
DRY_RUN = typer.Option(False, help="Print the resolved config and touch nothing.")
SET = typer.Option([], "--set", metavar="PATH=VALUE", help="Set one value. Repeatable.")
JSON = typer.Option(False, "--json", help="Print one JSON document and nothing else.")


def _trainer(about: str, *, supervised: bool) -> Callable[..., None]:
    """A command that trains; `about` is its help."""

    def command(
        config: Path = FILE,
        out: str | None = OUT,
        resume: bool = RESUME,
        restart: bool = RESTART,
        checkpoints: str | None = CHECKPOINTS,
        dry_run: bool = DRY_RUN,
        set_: list[str] = SET,
        as_json: bool = JSON,
    ) -> None:
        from swarm.cli.actions import Given, run_trainer

        given = Given(config, out, resume, restart, checkpoints, dry_run, set_, as_json)
        run_trainer(given, supervised=supervised)

    command.__doc__ = about
    return command


train = _trainer("Train a policy by reinforcement.", supervised=False)
sft = _trainer(
    "Fine-tune on the task's demonstrations or answers, whatever algorithm the file names.",
    supervised=True,
)


def evaluate(
    config: Path = FILE,
    adapter: Path | None = typer.Option(
        None, help="A folder of a LoRA adapter or of all weights, or a run's."
    ),
    greedy: bool = typer.Option(False, help="Take the likeliest token instead of sampling."),
    dry_run: bool = DRY_RUN,
    set_: list[str] = SET,
    as_json: bool = JSON,
) -> None:
    """Evaluate the base model, or an adapter on it, on the task's held-out prompts."""
    from swarm.cli.actions import run_evaluation

    run_evaluation(config, adapter, greedy, dry_run, set_, as_json)
