"""Settings found by a sweep."""

from pathlib import Path

import pytest

from benchmarks import generate_sweep
from benchmarks.generate_sweep import best_settings


def test_without_a_sweep_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(generate_sweep, "RESULT", tmp_path / "none.json")
    with pytest.raises(SystemExit, match="--sweep"):
        best_settings()
