"""Playbook files as YAML with line numbers."""

import os
from pathlib import Path

import pytest

from autoresearch.playbook.document import read
from autoresearch.playbook.problems import MalformedPlaybook

TEXT = """\
id: mine
factors:
  - name: group_size
    levels: [4, 16]
  - name: clip_range
rate: 3.0e-4
ready: true
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT)
    return path


def test_values_are_plain(path: Path) -> None:
    values = read(path).values
    assert values == {
        "id": "mine",
        "factors": [{"name": "group_size", "levels": [4, 16]}, {"name": "clip_range"}],
        "rate": 3.0e-4,
        "ready": True,
    }
    kinds = {type(values[name]) for name in ("id", "factors", "rate", "ready")}
    assert kinds == {str, list, float, bool}


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("id",), 1),
        (("factors",), 2),
        (("factors", 0), 3),
        (("factors", 0, "levels"), 4),
        (("factors", 1, "name"), 5),
        (("ready",), 7),
        (("factors", 1, "levels"), 5),
        (("factors", 7, "name"), 2),
        (("nothing", "here"), 1),
    ],
)
def test_a_place_leads_to_the_line_of_its_deepest_part(path: Path, place: tuple, line: int) -> None:
    assert read(path).line(place) == line


def test_a_changed_file_is_read_again(path: Path) -> None:
    assert read(path) is read(path)
    path.write_text(TEXT.replace("mine", "ours"))
    os.utime(path, ns=(1, 1))  # another time, whatever the clock's grain
    assert read(path).values["id"] == "ours"


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"a: [1", 1), (b"a: 1\nb: 2\na: 3\n", 3), (b"- a\n", 1), (b"", 1), (b"\xff\xfe\x00", 1)],
)
def test_what_is_no_mapping_is_malformed(path: Path, data: bytes, line: int) -> None:
    path.write_bytes(data)
    with pytest.raises(MalformedPlaybook) as refused:
        read(path)
    (problem,) = refused.value.problems
    assert (problem.code, problem.line) == ("PB001", line)
