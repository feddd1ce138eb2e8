"""A new attempt takes over the records of an earlier one up to its checkpoint."""

import shutil
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML

from swarm.config import TrainConfig
from swarm.runfolder import (
    CONFIG,
    DIVERGED,
    EVENTS,
    MANIFEST,
    METRICS,
    RESULT,
    ROLLOUTS,
    read_rows,
    write_atomically,
    write_rows,
)


def take_over(earlier: Path, folder: Path, step: int | None) -> None:
    """Leave in `folder` just the rows of `earlier` up to `step`, that of the checkpoint from which
    training goes on. Without one no metric or rollout row is kept; events all are.

    `earlier` may be `folder`, whose seal is then broken; otherwise it is only read.
    """
    last = -1 if step is None else step
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, RESULT):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / DIVERGED, ignore_errors=True)
    for name in (METRICS, ROLLOUTS):
        rows = [row for row in read_rows(earlier / name) if row["step"] <= last]
        write_rows(folder / name, rows)
    write_rows(folder / EVENTS, list(read_rows(earlier / EVENTS)))


def write_config(config: TrainConfig, folder: Path) -> None:
    """Write the resolved config as YAML."""
    text = StringIO()
    YAML(typ="safe").dump(config.model_dump(mode="json"), text)
    write_atomically(folder / CONFIG, text.getvalue())


def read_config(folder: Path) -> TrainConfig:
    """The config a run folder was trained with."""
    with (folder / CONFIG).open(encoding="utf-8") as file:
        return TrainConfig.model_validate(YAML(typ="safe").load(file))
