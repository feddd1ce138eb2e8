"""One running attempt, as its driver sees it through the attempt's folder."""

import math
import time
from collections.abc import Mapping
from typing import Any

from autoresearch.execute.tail import Tail
from autoresearch.study.facts import AttemptFacts
from autoresearch.study.plan import TrialSpec
from autoresearch.watch.raised import RaisedAlarms
from swarm.disk.folder import METRICS
from swarm.train.alarms import Alarm


class Following:
    """Reads what an attempt writes and keeps its rows for the watch."""

    def __init__(self, spec: TrialSpec, attempt: AttemptFacts) -> None:
        self.spec = spec
        self.attempt = attempt
        self.rows: list[dict[str, Any]] = []
        self._tail = Tail(attempt.folder / METRICS)
        self._seen_at: float | None = None
        self._raised = RaisedAlarms(spec.config)

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
        """How long it has run under this driver: since its folder was first seen.

        So the wait for a free core of a shared cluster does not count.
        """
        if self._seen_at is None and self.attempt.folder.exists():
            self._seen_at = time.monotonic()
        return 0.0 if self._seen_at is None else time.monotonic() - self._seen_at

    def alarms(self, *, ended: bool = False) -> list[Alarm]:
        """The alarms that this run had not raised before."""
        return self._raised.new(self.rows, ended=ended)

    def last_values(self) -> dict[str, float]:
        """Each metric's last finite value."""
        values: dict[str, float] = {}
        for row in self.rows:
            values |= finite(row["metrics"])
        return values


def finite(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that are numbers; a mean over nothing is NaN."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}
