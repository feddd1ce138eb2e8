"""Starting `trial_driver`, and waiting until its trials are where a test wants them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autoresearch.study.facts import TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from support.child_path import child_path
from support.small_trials import STUDY
from swarm.disk.folder import METRICS, read_rows

DRIVER = "support.trial_driver"


@contextmanager
def driver(root: Path, address: str, steps: int, *seeds: int) -> Iterator[subprocess.Popen[str]]:
    """A driver that leads a process group of its own; killed in the end if it still lives."""
    process = subprocess.Popen(
        [sys.executable, "-m", DRIVER, str(root), address, str(steps), *map(str, seeds)],
        env={**os.environ, "PYTHONPATH": child_path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def trials(root: Path) -> dict[int, TrialFacts]:
    """The study's trials by seed, as a reader sees them; none before the study exists."""
    ledger = Ledger.open(Home(root))
    if not ledger.studies():
        return {}
    return {trial.spec.seed: trial for trial in ledger.facts(STUDY).trials}


def rows(trial: TrialFacts) -> int:
    """How many rows the trial's newest attempt has written."""
    folder = trial.attempts[-1].folder if trial.attempts else Path("/nowhere")
    return len(list(read_rows(folder / METRICS)))


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait up to a minute while the driver lives."""
    limit = time.monotonic() + 60
    while not condition():
        if process.poll() is not None or time.monotonic() > limit:
            process.kill()
            raise AssertionError(process.communicate()[0])
        time.sleep(0.05)
