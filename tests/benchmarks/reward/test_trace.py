import pytest

from benchmarks.reward import trace as module
from benchmarks.reward.trace import Trace


@pytest.fixture
def at(monkeypatch):
    """Set both clocks, in seconds."""

    def set_clocks(seconds: float) -> None:
        monkeypatch.setattr(module.time, "monotonic", lambda: seconds)
        monkeypatch.setattr(module.time, "process_time", lambda: seconds)

    return set_clocks


def test_evaluations_are_off_the_clock_wherever_they_stand(at):
    """Swarm says how long its evaluation took within a step, TRL's stands between two steps."""
    within, between = Trace(spawned=100), Trace(spawned=100)
    at(105)
    within.start(paused=2)
    within.evaluated(0.4)
    within.resume()
    at(108)
    within.step()
    within.resume()
    at(118)
    within.step(paused=6)
    within.evaluated(0.5)
    at(103)
    between.start()
    between.evaluated(0.4)
    at(105)
    between.resume()
    at(108)
    between.step()
    between.resume()
    at(112)
    between.step()
    between.evaluated(0.5)
    one, other = within.curve(), between.curve()
    assert one.startup == other.startup == 3
    assert one.clock == other.clock == (3, 7)
    assert one.evaluated == other.evaluated == ((0, 0.4), (2, 0.5))
    assert one.cpu == (3,)
    assert other.cpu == (3, 4)
