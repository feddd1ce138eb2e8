"""What a new attempt keeps of an earlier one."""

import math
from pathlib import Path

from swarm.disk.folder import (
    EVENTS,
    METRICS,
    ROLLOUTS,
    RunResult,
    RunWriter,
    check_seal,
    read_result,
    read_rows,
)
from swarm.train.resume import take_over


def crashed_run(folder: Path) -> None:
    """Steps 0 to 5, the last row torn."""
    writer = RunWriter(folder)
    writer.event("started")
    for step in range(6):
        writer.metrics(step, float(step), {"reward/mean": 0.5})
        writer.rollout({"step": step, "completion": "ba"})
    with (folder / METRICS).open("a") as file:
        file.write('{"step": 6, "wal')


def steps(folder: Path, name: str) -> list[int]:
    return [row["step"] for row in read_rows(folder / name)]


def listing(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_rows_after_the_checkpoint_are_left_behind(tmp_path: Path) -> None:
    earlier, folder = tmp_path / "1", tmp_path / "2"
    crashed_run(earlier)
    before = listing(earlier)
    take_over(earlier, folder, 4)
    assert steps(folder, METRICS) == steps(folder, ROLLOUTS) == [0, 1, 2, 3, 4]
    assert [row["kind"] for row in read_rows(folder / EVENTS)] == ["started"]
    assert listing(earlier) == before


def test_without_a_checkpoint_only_events_are_kept(tmp_path: Path) -> None:
    earlier, folder = tmp_path / "1", tmp_path / "2"
    crashed_run(earlier)
    take_over(earlier, folder, None)
    assert steps(folder, METRICS) == steps(folder, ROLLOUTS) == []
    assert [row["kind"] for row in read_rows(folder / EVENTS)] == ["started"]


def test_a_folder_may_go_on_by_itself(tmp_path: Path) -> None:
    crashed_run(tmp_path)
    take_over(tmp_path, tmp_path, 4)
    assert steps(tmp_path, METRICS) == [0, 1, 2, 3, 4]


def test_going_on_breaks_the_seal(tmp_path: Path) -> None:
    """A folder that is being written to must not look finished."""
    crashed_run(tmp_path)
    RunWriter(tmp_path).seal(RunResult("diverged", 5, 1.0))
    take_over(tmp_path, tmp_path, 4)
    assert [d.problem for d in check_seal(tmp_path)] == ["unsealed"]
    assert read_result(tmp_path) is None


def test_not_a_number_survives(tmp_path: Path) -> None:
    """A batch without a right answer has no mean length of right answers."""
    earlier, folder = tmp_path / "1", tmp_path / "2"
    RunWriter(earlier).metrics(0, 0.0, {"completions/mean_length_correct": math.nan})
    take_over(earlier, folder, 0)
    assert (folder / METRICS).read_bytes() == (earlier / METRICS).read_bytes()
