"""Which config may go on where a run of another stopped: its own, or one with more steps."""

from collections.abc import Iterator
from pathlib import Path

from swarm.config.paths import first_difference
from swarm.config.train import TrainConfig
from swarm.errors import Refusal


def check_continues(earlier: TrainConfig, config: TrainConfig, folder: Path) -> None:
    """Raise Refusal unless the run of `earlier` in `folder` goes on with `config` to what `config`
    alone would have reached, bit for bit: the two are equal, or `config` has more steps and nothing
    in it depends on their number."""
    more = config.steps > earlier.steps
    changed = first_difference(
        earlier.with_values({"steps": config.steps}) if more else earlier, config
    )
    if changed is not None:
        raise Refusal(
            changed, f"{folder} was trained with another value", "train into a new folder"
        )
    over = next(_over_all_steps(config), None)
    if more and over is not None:
        raise Refusal(
            "steps",
            f"{folder} was trained for {earlier.steps}, and {over} depends on their number",
            "train into a new folder, from these weights by policy.start",
        )


def _over_all_steps(config: TrainConfig) -> Iterator[str]:
    """The settings that make a step depend on how many there are in all."""
    if config.optim.schedule != "constant":
        yield f"optim.schedule {config.optim.schedule}"
    if config.data.order == "easy_first":
        yield "data.order easy_first"
