"""Which alarms a run has raised: each kind once, looked for at every row."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from swarm.config.train import TrainConfig
from swarm.disk.folder import EVENTS, METRICS, RunWriter, read_rows
from swarm.train.alarms import seen, seen_at_the_end
from swarm.train.curves import Alarm, Curves

OnAlarm = Callable[[Alarm], None]


class RaisedAlarms:
    """The alarms of one run so far. They are notes for its reader and do not stop the run."""

    def __init__(self, config: TrainConfig, kinds: Iterable[str] = ()) -> None:
        """`kinds` were raised already, by an earlier attempt at the run."""
        self._config = config
        self._kinds = set(kinds)
        self._curves = Curves()
        self._rows = 0

    def new(self, rows: Sequence[Mapping[str, Any]], *, ended: bool = False) -> list[Alarm]:
        """The alarms that a run had not raised before; `rows` are all its rows so far."""
        found: list[Alarm] = []
        for row in rows[self._rows :]:
            self._curves.add(row)
            found += self._not_yet(seen(self._curves, self._config))
        self._rows = len(rows)
        if ended and rows:
            found += self._not_yet(seen_at_the_end(self._curves, self._config))
        return found

    def _not_yet(self, alarms: Iterable[Alarm]) -> Iterator[Alarm]:
        for alarm in alarms:
            if alarm.kind not in self._kinds:
                self._kinds.add(alarm.kind)
                yield alarm


class Watch:
    """A run's alarms as it goes: events of its folder, of which `on_alarm` hears at once."""

    def __init__(self, config: TrainConfig, writer: RunWriter, on_alarm: OnAlarm | None) -> None:
        self._writer = writer
        self._on_alarm = on_alarm or (lambda alarm: None)
        self._config = config
        self._rows: list[Mapping[str, Any]] = []
        self._raised = RaisedAlarms(config)

    def go_on(self) -> None:
        """Take the rows and alarms of the attempts before this one."""
        self._rows = list(read_rows(self._writer.folder / METRICS))
        events = read_rows(self._writer.folder / EVENTS)
        known = [event["detail"]["alarm"] for event in events if event["kind"] == "alarm"]
        self._raised = RaisedAlarms(self._config, known)

    def look(self, step: int, values: Mapping[str, float]) -> None:
        """Take the row of a step, and say what is newly wrong."""
        self._rows.append({"step": step, "metrics": values})
        self._say(self._raised.new(self._rows))

    def end(self) -> None:
        """Say what only the whole run can tell."""
        self._say(self._raised.new(self._rows, ended=True))

    def _say(self, alarms: Iterable[Alarm]) -> None:
        for alarm in alarms:
            self._writer.event(
                "alarm", alarm=alarm.kind, step=alarm.step, value=alarm.value, cause=alarm.cause
            )
            self._on_alarm(alarm)
