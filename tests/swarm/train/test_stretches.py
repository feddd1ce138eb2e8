"""A run's stretches: which are kept, and when another begins."""

from pathlib import Path

from swarm.train.stretches import Conditions, Stretch, read_conditions, write_conditions


def test_a_stretch_that_left_no_row_is_forgotten(tmp_path: Path) -> None:
    run, _ = Conditions.new().then(0, {"torch": "1"})
    other, changed = run.before(4).then(4, {"torch": "2"})
    assert changed == {"torch": ["1", "2"]}
    assert not other.exact
    back, changed = other.before(4).then(4, {"torch": "1"})
    assert (back.exact, changed) == (True, {})
    write_conditions(other, tmp_path)
    assert read_conditions(tmp_path) == other
    assert Conditions(run.run).before(3).stretches == (Stretch(0, None),)
