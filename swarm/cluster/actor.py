"""What runs in a worker: one attempt at one run. Knows nothing of Ray."""

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swarm.config.train import TrainConfig
from swarm.disk.folder import RunResult, manifest_digest
from swarm.errors import BadFolder, BadStorage, CheckpointsLost, Refusal, RewardFailed

TRAIN = "swarm.train.loop:train"

Entry = Callable[..., RunResult]

#: Refusals of a place, which may be free or answer when the run is tried again.
_MAY_PASS = (BadStorage, BadFolder)


@dataclass(frozen=True)
class Job:
    """One attempt. `entry` is "module:function", called like `swarm.train.loop.train`."""

    config: Mapping[str, Any]
    folder: Path
    resume_from: Path | None
    entry: str


@dataclass(frozen=True)
class Outcome:
    """How a job ended, as its own process saw it; `lost`: that died without saying so. `final`:
    it was refused (not by a place, which may be free later), or the user's reward failed."""

    status: Literal["finished", "diverged", "failed", "lost"]
    cause: str = ""
    final: bool = False


class RunActor:
    """Runs its job once, on one thread; asking again returns the same outcome. So a new driver that
    adopts a running actor asks like the first one did, and waits."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._outcome: Outcome | None = None

    def run(self) -> Outcome:
        if self._outcome is None:
            _use_one_thread()
            _write_output_to(worker_log(self._job.folder))
            self._outcome = run_job(self._job)
        return self._outcome


def run_job(job: Job) -> Outcome:
    """Run the job in this process. An exception is an outcome; its traceback goes to stderr."""
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
        config = TrainConfig.read_back(job.config)
        entry = _entry(job.entry)
        try:
            result = entry(config, job.folder, resume_from=job.resume_from)
        except CheckpointsLost as lost:  # a folder of its own: starting over erases nothing
            result = entry(config, job.folder, resume_from=job.resume_from, restart=str(lost))
    except (Refusal, RewardFailed) as error:
        traceback.print_exc()
        return Outcome("failed", one_line(str(error)), final=not isinstance(error, _MAY_PASS))
    except Exception as error:
        traceback.print_exc()
        return Outcome("failed", one_line(f"{type(error).__name__}: {error}"))
    if manifest_digest(job.folder) is None:
        return Outcome("failed", "the run returned without sealing its folder")
    return Outcome(result.status, one_line(result.cause))


def worker_log(folder: Path) -> Path:
    """Where an attempt's stdout and stderr go: beside its folder, which gets sealed."""
    return folder.with_name(f"{folder.name}.log")


def one_line(text: str, most: int = 300) -> str:
    """The text's first line that says something, cut to `most` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= most else line[: most - 1] + "…"


def _entry(name: str) -> Entry:
    module, _, function = name.partition(":")
    entry: Entry = getattr(importlib.import_module(module), function)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return entry


def _use_one_thread() -> None:
    """Let torch use one thread: jobs run side by side, one a core. Call it before torch loads."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def _write_output_to(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
