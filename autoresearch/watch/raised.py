"""Which alarms a run has raised: each kind once, looked for every few rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from swarm.config.train import TrainConfig
from swarm.train.alarms import Alarm, alarms

LOOK_EVERY = 5  # rows between two looks


class RaisedAlarms:
    """The alarms of one run so far. They are notes for a report and do not stop the run."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self._looked_at = 0
        self._kinds: set[str] = set()

    def new(self, rows: Sequence[Mapping[str, Any]], *, ended: bool = False) -> list[Alarm]:
        """The alarms that a run had not raised before; `rows` are all its rows so far."""
        if not ended and len(rows) - self._looked_at < LOOK_EVERY:
            return []
        self._looked_at = len(rows)
        found = alarms(rows, self._config, ended=ended)
        new = [alarm for alarm in found if alarm.kind not in self._kinds]
        self._kinds |= {alarm.kind for alarm in new}
        return new
