"""What is said of errors that are nobody's input."""

import errno
import sqlite3
import tempfile
from pathlib import Path

import pytest

from swarm.disk import faults


def test_a_defect_is_kept_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        raise KeyError("seam")
    except KeyError as error:
        parts = faults.of_defect(error, "swarm")
    (log,) = tmp_path.glob("swarm-bug-*.log")
    assert parts["problem"] == "KeyError: 'seam'"
    assert str(log) in faults.one_line(parts)
    text = log.read_text()
    assert "Traceback (most recent call last)" in text
    assert "python 3." in text
    assert "command: " in text


def test_where_nothing_can_be_written_the_traceback_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    parts = faults.of_defect(KeyError("seam"), "swarm")
    assert "KeyError: 'seam'" in capsys.readouterr().err
    assert "the traceback above" in faults.one_line(parts)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "memory: there is not enough; take a smaller model"),
        (OSError(errno.ENOSPC, "", "runs/x"), "runs/x: No space left on device; make room"),
        (sqlite3.OperationalError("disk I/O error"), "database: disk I/O error; make room"),
        (sqlite3.OperationalError("database is locked"), "database: database is locked; wait"),
    ],
)
def test_the_machine(error: Exception, said: str) -> None:
    parts = faults.of_machine(error)
    assert parts is not None
    assert faults.one_line(parts).startswith(said)


@pytest.mark.parametrize("error", [ValueError("x"), OSError(errno.EPERM, ""), KeyError("x")])
def test_anything_else_is_a_defect(error: Exception) -> None:
    assert faults.of_machine(error) is None
    assert faults.of_machine(sqlite3.OperationalError("no such table")) is None
