"""Where a run begins: afresh, or at the newest checkpoint of an earlier attempt."""

from pathlib import Path

from swarm.config import TrainConfig
from swarm.policy import checkpoint
from swarm.runfolder import CHECKPOINTS_URL, CONFIG, METRICS, checkpoints_of, write_atomically
from swarm.storage import BadStorage, Storage
from swarm.takeover import read_config, take_over


def begin(
    config: TrainConfig, folder: Path, resume_from: Path | None, checkpoints: str | None
) -> tuple[Storage, int | None]:
    """Where the run in `folder` keeps its checkpoints, and the step of the one to go on from.

    The records and that checkpoint of `resume_from` are then in place. Raises ValueError when
    `resume_from` had another config or `checkpoints` are those of another run, and FileExistsError
    when `folder` holds a run that is not resumed; nothing is changed then.
    """
    if resume_from is None and (folder / METRICS).exists():
        raise FileExistsError(f"{folder} holds a run already: resume from it or train elsewhere")
    started = resume_from if resume_from and (resume_from / CONFIG).exists() else None
    if started is not None and read_config(started) != config:
        raise ValueError(f"{started} was trained with another config")
    storage = Storage(checkpoints or checkpoints_of(folder))
    known = [Storage(checkpoints_of(run)) for run in (folder, resume_from) if run is not None]
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
    if not storage.is_at(Storage(checkpoints_of(folder))):
        write_atomically(folder / CHECKPOINTS_URL, f"{storage.address}\n")
