"""Every test that `docs/bugs.md` names exists, and every row names one."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "swarm"
PAGE = (HERE.parents[1] / "docs" / "bugs.md").read_text()
ROWS = re.findall(r"^\| (\d+) \| (.+) \| (.+) \|$", PAGE, flags=re.MULTILINE)


def names(path: Path) -> set[str]:
    """The tests of a file as `function`, `Class` and `Class::method`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            if any(name.startswith("test_") for name in methods):
                found |= {node.name, *(f"{node.name}::{name}" for name in methods)}
    return found


def test_all_rows_are_read() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 33))


@pytest.mark.parametrize(("number", "bug", "caught"), ROWS, ids=[row[0] for row in ROWS])
def test_what_catches_it_exists(number: str, bug: str, caught: str) -> None:
    tests = re.findall(r"`(\S+\.py)::(\S+)`", caught)
    assert tests or number == "18"
    for file, name in tests:
        assert name in names(HERE / file), f"{file} has no {name}"
