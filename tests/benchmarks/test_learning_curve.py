"""The picture of a learning curve."""

from pathlib import Path

from support.seed_runs import seed_run

from benchmarks.learning_curve import draw


def test_curve_is_a_picture(tmp_path: Path) -> None:
    runs = {run.seed: run.rows for run in (seed_run(0, 0.6), seed_run(1, 0.8))}
    draw(runs, tmp_path / "images" / "curve.png")
    assert (tmp_path / "images" / "curve.png").read_bytes().startswith(b"\x89PNG")
