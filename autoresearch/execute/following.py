"""One running attempt, as its driver sees it through the attempt's folder."""

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autoresearch.study.facts import AttemptFacts
from autoresearch.study.trial import TrialSpec
from swarm.disk.folder import METRICS, parsed
from swarm.train.raised import RaisedAlarms


class Following:
    """Reads what an attempt writes and keeps its rows for the watch."""

    def __init__(self, spec: TrialSpec, attempt: AttemptFacts) -> None:
        self.spec = spec
        self.attempt = attempt
        self.rows: list[dict[str, Any]] = []
        self._tail = Tail(attempt.folder / METRICS)
        self._seen_at: float | None = None
        self.alarms = RaisedAlarms(spec.config)

    @property
    def job(self) -> str:
        """The attempt's name on the cluster: an actor's name there, the same in every version."""
        return f"{self.spec.id}-{self.attempt.number}"

    def read(self) -> list[dict[str, Any]]:
        """The rows written since the last call."""
        rows = self._tail.read()
        self.rows += rows
        return rows

    def seconds(self) -> float:
        """Seconds since this driver first saw the attempt's folder.

        The wait for a free core of a shared cluster does not count.
        """
        if self._seen_at is None and self.attempt.folder.exists():
            self._seen_at = time.monotonic()
        return 0.0 if self._seen_at is None else time.monotonic() - self._seen_at


class Tail:
    """The complete rows of a JSONL file that another process appends to, each once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self) -> list[dict[str, Any]]:
        """The rows that were completed since the last call; none while there is no file."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [parsed(line) for line in whole.splitlines()]


def last_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Each metric's last finite value; a mean over nothing is NaN."""
    return {
        name: value
        for row in rows
        for name, value in row["metrics"].items()
        if math.isfinite(value)
    }
