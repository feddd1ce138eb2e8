"""Which alarms a run has raised: each kind once, looked for at the first rows and then every
few."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swarm.config.train import TrainConfig
from swarm.train.alarms import Alarm, alarms

LOOK_EVERY = 5  # rows between two looks


class RaisedAlarms:
    """The alarms of one run so far. They are notes for its reader and do not stop the run."""

    def __init__(self, config: TrainConfig, kinds: Iterable[str] = ()) -> None:
        """`kinds` were raised already, by an earlier attempt at the run."""
        self._config = config
        self._looked_at = 0
        self._kinds = set(kinds)

    def new(self, rows: Sequence[Mapping[str, Any]], *, ended: bool = False) -> list[Alarm]:
        """The alarms that a run had not raised before; `rows` are all its rows so far."""
        seen = len(rows) - self._looked_at
        if not ended and (not seen or seen < LOOK_EVERY < len(rows)):
            return []
        self._looked_at = len(rows)
        found = alarms(rows, self._config, ended=ended)
        new = [alarm for alarm in found if alarm.kind not in self._kinds]
        self._kinds |= {alarm.kind for alarm in new}
        return new
