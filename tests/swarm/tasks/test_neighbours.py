"""Which import errors are by design."""

from pathlib import Path

import pytest

from swarm.tasks.neighbours import by_design


def error_of(statement: str) -> ImportError:
    with pytest.raises(ImportError) as caught:
        exec(statement, {"__name__": "own", "__package__": ""})
    return caught.value


@pytest.mark.parametrize("statement", ["import helping", "from helping.part import x"])
def test_of_a_module_or_package_beside_the_file(tmp_path: Path, statement: str) -> None:
    error, file = error_of(statement), tmp_path / "task.py"
    assert by_design(error, file) is None
    (tmp_path / "helping").mkdir()
    assert (by_design(error, file) or "").startswith("helping lies beside task.py; ")


def test_of_a_relative_import(tmp_path: Path) -> None:
    assert "by design" in (by_design(error_of("from . import x"), tmp_path / "task.py") or "")


def test_of_nothing_else(tmp_path: Path) -> None:
    assert by_design(ValueError("x"), tmp_path / "task.py") is None
    assert by_design(error_of("from json import nothing"), tmp_path / "task.py") is None
