"""Where a run begins: afresh, or at the newest checkpoint of an earlier attempt. The records of
that attempt up to its checkpoint are taken over.

Checkpoints that cannot be reached, that are damaged and that were never written are three things.
Only the last lets a resumed run begin afresh; otherwise starting over has to be asked for.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm.config.extension import check_continues
from swarm.config.train import TrainConfig
from swarm.disk import folder as files
from swarm.disk.run_config import read_config
from swarm.disk.storage import Storage
from swarm.errors import BadStorage, CheckpointsLost, Refusal
from swarm.policy import checkpoint
from swarm.policy.checkpoint import Survey
from swarm.train.stretches import Conditions, read_conditions

#: The set of files by which a storage outside of the run folder says whose checkpoints it holds.
OWNER, OWNER_FILE = "run", "run.json"


@dataclass(frozen=True)
class Beginning:
    """Where the run keeps its checkpoints, and the step of the one to go on from, None to begin
    afresh. `conditions` are those of what was taken over. `events` tell what was passed over."""

    storage: Storage
    step: int | None
    conditions: Conditions
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def begin(
    config: TrainConfig,
    folder: Path,
    resume_from: Path | None,
    checkpoints: str | None,
    restart: str = "",
) -> Beginning:
    """Where the run in `folder` begins; the records and the checkpoint of `resume_from` are then in
    place. With `restart`, the reason for it, that is its start in any case.

    Raises Refusal when `resume_from` had a config that this one does not continue, when
    `checkpoints` are those of another run, and when `folder` holds a run that is not resumed;
    BadStorage when a storage does not answer, and CheckpointsLost when `resume_from` has written
    checkpoints of which none is whole. Nothing is changed then.
    """
    if resume_from is None and (folder / files.METRICS).exists():
        raise Refusal("out", f"{folder} holds a run already", "resume from it or train elsewhere")
    started = resume_from if resume_from and (resume_from / files.CONFIG).exists() else None
    if started is not None:
        check_continues(read_config(started), config, started)
    storage = Storage(checkpoints or files.checkpoints_of(folder))
    known = [Storage(files.checkpoints_of(run)) for run in (folder, resume_from) if run is not None]
    conditions = (read_conditions(resume_from) if resume_from else None) or Conditions.new()
    source = known[-1]
    if not any(storage.is_at(place) for place in known):
        holder = _owner(storage)
        if holder != conditions.run and (holder or checkpoint.holds_any(storage)):
            raise BadStorage(
                storage.address, "it holds those of another run", "choose an empty place"
            )
        if holder:  # they were moved there
            source = storage
    if resume_from is None:
        return Beginning(storage, None, conditions)
    found = Survey(None, ()) if restart else _survey(source, resume_from)
    take_over(resume_from, folder, found.newest)
    checkpoint.take_over(source, storage, found.newest)
    if found.newest is None:
        told = (("restarted", {"cause": restart}),) if restart else ()
        return Beginning(storage, None, Conditions(conditions.run), told)
    lost = (("damaged", {"steps": list(found.damaged)}),) if found.damaged else ()
    return Beginning(storage, found.newest, conditions.before(found.newest), lost)


def write_place(storage: Storage, folder: Path, run: str) -> None:
    """Say in a run's folder where its checkpoints are, if that is elsewhere, and there whose they
    are. Raises BadStorage where that fails."""
    if storage.is_at(Storage(folder / files.CHECKPOINTS)):
        (folder / files.CHECKPOINTS_URL).unlink(missing_ok=True)
        return
    files.write_atomically(folder / files.CHECKPOINTS_URL, f"{storage.address}\n")
    if _owner(storage) != run:
        try:
            storage.write(OWNER, [(OWNER_FILE, json.dumps({"run": run}).encode())])
        except Exception as error:  # every filesystem has errors of its own
            raise BadStorage(
                storage.address, error, "give a place that can be written to"
            ) from None


def check_owner(storage: Storage, folder: Path, run: str) -> None:
    """Raise BadStorage where another run has chosen the same place for its checkpoints since."""
    if not storage.is_at(Storage(folder / files.CHECKPOINTS)) and _owner(storage) != run:
        raise BadStorage(storage.address, "another run keeps its own there", "give each its own")


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


def _survey(storage: Storage, run: Path) -> Survey:
    """The checkpoint that a run goes on from. Raises CheckpointsLost where it has some by its
    events, and there is none that is whole."""
    found = checkpoint.survey(storage)
    named = _named(run)
    if found.newest is not None or not named:
        return found
    kept, pruned = named[-checkpoint.KEPT :], named[: -checkpoint.KEPT]
    steps = f"{_told(kept)} there" + (f" ({_told(pruned)} it has removed itself)" if pruned else "")
    if not storage.exists():
        problem, put_right = f"there is nothing, and the run left {steps}", "bring it back"
    elif there := checkpoint.steps_of(storage):
        problem, put_right = (
            f"of {_told(there)} there none is whole; the run left {steps}",
            "restore one",
        )
    else:
        problem, put_right = f"no checkpoint is there; the run left {steps}", "bring them back"
    next_step = f"{put_right}, say with --checkpoints where they are, or start over with --restart"
    raise CheckpointsLost(storage.address, problem, next_step)


def _told(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]}"
    if len(steps) == 2:
        return f"steps {steps[0]} and {steps[1]}"
    return f"steps {steps[0]} to {steps[-1]}"


def _named(run: Path) -> list[int]:
    """The steps whose checkpoints a run has written since it last began, by its events."""
    steps: list[int] = []
    for row in files.read_rows(run / files.EVENTS):
        if row["kind"] == "started":
            steps = []
        elif row["kind"] == "checkpoint":
            steps.append(row["detail"]["step"])
    return sorted(set(steps))


def _owner(storage: Storage) -> str | None:
    """The id of the run whose checkpoints a storage holds, if it says."""
    try:
        return str(json.loads(storage.read(OWNER, OWNER_FILE))["run"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
