"""Where a run begins: afresh, or at the newest checkpoint of an earlier attempt. The records of
that attempt up to its checkpoint are taken over."""

import shutil
from pathlib import Path

from swarm.config.paths import first_difference
from swarm.config.train import TrainConfig
from swarm.disk import folder as files
from swarm.disk.run_config import read_config
from swarm.disk.storage import Storage
from swarm.errors import BadStorage, Refusal
from swarm.policy import checkpoint


def begin(
    config: TrainConfig, folder: Path, resume_from: Path | None, checkpoints: str | None
) -> tuple[Storage, int | None]:
    """Where the run in `folder` keeps its checkpoints, and the step of the one to go on from.

    The records and that checkpoint of `resume_from` are then in place. Raises Refusal when
    `resume_from` had another config, when `checkpoints` are those of another run, and when `folder`
    holds a run that is not resumed; nothing is changed then.
    """
    if resume_from is None and (folder / files.METRICS).exists():
        raise Refusal("out", f"{folder} holds a run already", "resume from it or train elsewhere")
    started = resume_from if resume_from and (resume_from / files.CONFIG).exists() else None
    if started is not None and first_difference(read_config(started), config):
        raise Refusal("out", f"{started} was trained with another config", "train elsewhere")
    storage = Storage(checkpoints or files.checkpoints_of(folder))
    known = [Storage(files.checkpoints_of(run)) for run in (folder, resume_from) if run is not None]
    if not any(storage.is_at(place) for place in known) and checkpoint.holds_any(storage):
        raise BadStorage(storage.address, "it holds those of another run", "choose an empty place")
    step = None
    if resume_from is not None:
        step = checkpoint.newest(known[-1])
        take_over(resume_from, folder, step)
        checkpoint.take_over(known[-1], storage, step)
    return storage, step


def write_place(storage: Storage, folder: Path) -> None:
    """Say in a run's folder where its checkpoints are, if that is elsewhere."""
    if not storage.is_at(Storage(files.checkpoints_of(folder))):
        files.write_atomically(folder / files.CHECKPOINTS_URL, f"{storage.address}\n")


def take_over(earlier: Path, folder: Path, step: int | None) -> None:
    """Leave in `folder` just the rows of `earlier` up to `step`, that of the checkpoint from which
    training goes on. Without one no metric or rollout row is kept; events all are. `earlier` may be
    `folder`, whose seal is then broken; otherwise it is only read."""
    last = -1 if step is None else step
    folder.mkdir(parents=True, exist_ok=True)
    for name in (files.MANIFEST, files.RESULT):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / files.DIVERGED, ignore_errors=True)
    for name in (files.METRICS, files.ROLLOUTS):
        rows = [row for row in files.read_rows(earlier / name) if row["step"] <= last]
        files.write_rows(folder / name, rows)
    files.write_rows(folder / files.EVENTS, list(files.read_rows(earlier / files.EVENTS)))
