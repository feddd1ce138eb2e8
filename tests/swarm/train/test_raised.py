"""Which alarms of a run are new."""

import math
from pathlib import Path

from swarm.config.train import TrainConfig
from swarm.disk.folder import EVENTS, RunWriter, read_rows
from swarm.train.curves import WINDOW
from swarm.train.raised import RaisedAlarms, Watch

TWO_UPDATES = TrainConfig().with_values({"batch.minibatches": 2})


def rows(count: int, **changes: float) -> list[dict]:
    """Rows of a run that earns something, with other metrics as given (`/` written as `__`)."""
    values = {name.replace("__", "/"): value for name, value in changes.items()}
    return [
        {"step": step, "wall": float(step), "metrics": {"reward/mean": 0.5, **values}}
        for step in range(count)
    ]


def kinds(raised: RaisedAlarms, found: list[dict], *, ended: bool = False) -> list[str]:
    return [alarm.kind for alarm in raised.new(found, ended=ended)]


def test_each_kind_is_raised_once() -> None:
    raised = RaisedAlarms(TWO_UPDATES)
    sick = rows(3 * WINDOW, loss__policy=math.nan)
    assert kinds(raised, sick[:WINDOW]) == ["non-finite"]
    assert kinds(raised, sick[: 2 * WINDOW]) == []
    assert kinds(raised, sick, ended=True) == []


def test_another_kind_is_new() -> None:
    raised = RaisedAlarms(TWO_UPDATES)
    assert kinds(raised, rows(WINDOW, mismatch__kl=0.2)) == ["mismatch"]
    both = rows(2 * WINDOW, mismatch__kl=0.2, policy__kl_ref=9.0)
    assert kinds(raised, both) == ["kl-blow-up"]


def test_every_row_is_looked_at_however_many_came_at_once() -> None:
    """What a run raises, and at which step, does not depend on when its rows were read."""
    sick = rows(3 * WINDOW)
    sick[1]["metrics"] |= {"policy/ratio_max": 513.0}
    sick[2 * WINDOW + 1]["metrics"] |= {"loss/policy": math.nan}
    for size in (1, 2, WINDOW, len(sick)):
        raised = RaisedAlarms(TWO_UPDATES)
        found = []
        for end in range(size, len(sick) + size, size):
            found += raised.new(sick[:end])
        assert [(a.kind, a.step) for a in found] == [
            ("ratio-blow-up", 1),
            ("non-finite", 2 * WINDOW + 1),
        ]


def test_what_only_the_whole_run_can_tell_comes_at_its_end() -> None:
    raised = RaisedAlarms(TWO_UPDATES)
    whole = rows(4 * WINDOW, policy__clip_frac=0.0)
    assert kinds(raised, whole) == []
    assert kinds(raised, whole, ended=True) == ["clip-never-binds"]


def test_the_first_rows_are_looked_at_at_once() -> None:
    raised = RaisedAlarms(TWO_UPDATES)
    assert kinds(raised, rows(1, loss__policy=math.nan)) == ["non-finite"]


def test_a_resumed_run_goes_on_where_its_alarms_stopped(tmp_path: Path) -> None:
    heard: list[str] = []
    for attempt in range(2):
        writer = RunWriter(tmp_path)
        watch = Watch(TWO_UPDATES, writer, lambda alarm: heard.append(alarm.kind))
        if attempt:
            watch.go_on()
        for step in range(6):
            values = {"reward/mean": 0.0, "reward/std": 0.0, "loss/policy": math.nan}
            writer.metrics(6 * attempt + step, 0.0, values)
            watch.look(6 * attempt + step, values)
    assert heard == ["non-finite", "reward-flat-at-zero"]
    events = [event["detail"] for event in read_rows(tmp_path / EVENTS)]
    assert [(event["alarm"], event["step"]) for event in events] == [(heard[0], 0), (heard[1], 9)]
