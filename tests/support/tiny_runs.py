"""Small training runs on the `tiny` model, about 0.1 s a step."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.disk.folder import METRICS, ROLLOUTS, read_rows
from swarm.train.loop import train

#: Metrics of the clock: they differ from run to run.
CLOCK = ("time/", "perf/")

SMALL: Mapping[str, JsonValue] = {
    "steps": 6,
    "batch.rollouts": 16,
    "batch.group_size": 4,
    "task.args.min": 3,
    "task.args.max": 6,
    "evaluation.every": 3,
    "evaluation.prompts": 16,
    "checkpoint_every": 1,
    "optim.lr": 5e-3,
}


def small(**values: JsonValue) -> TrainConfig:
    """A run of a second. `__` in a name stands for the dot of a path."""
    paths = {name.replace("__", "."): value for name, value in values.items()}
    return TrainConfig().with_values({**SMALL, **paths})


class Killed(Exception):
    """What stands for a killed process."""


def kill_at(step: int) -> Callable[[int, Mapping[str, float]], None]:
    """An `on_step` that ends the run when the row of `step` is written: the checkpoint of the step
    before is on disk, its own is not."""

    def on_step(now: int, _: Mapping[str, float]) -> None:
        if now == step:
            raise Killed

    return on_step


def in_stretches(config: TrainConfig, folder: Path, *kills: int) -> Path:
    """Train through the given kills, each attempt in its own folder; return the last folder."""
    earlier = None
    for number, step in enumerate(kills):
        attempt = folder / str(number)
        try:
            train(config, attempt, resume_from=earlier, on_step=kill_at(step))
        except Killed:
            earlier = attempt
    train(config, folder / "last", resume_from=earlier)
    return folder / "last"


def rows(folder: Path) -> list[dict[str, Any]]:
    """Metric rows without the clock."""
    return [
        {
            "step": row["step"],
            **{k: v for k, v in row["metrics"].items() if not k.startswith(CLOCK)},
        }
        for row in read_rows(folder / METRICS)
    ]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """The final weights of a run."""
    (file,) = (folder / "adapter").glob("*.safetensors")
    return load_file(file)


def same_weights(a: Path, b: Path) -> bool:
    """To the bit."""
    first, second = weights(a), weights(b)
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def assert_same_run(found: Path, truth: Path) -> None:
    """The same rollouts, rewards, metrics and final weights, to the bit."""
    assert list(read_rows(found / ROLLOUTS)) == list(read_rows(truth / ROLLOUTS))
    # NaN is written where a batch has, say, no right answer; as text it equals itself.
    assert repr(rows(found)) == repr(rows(truth))
    assert same_weights(found, truth)
