"""Problems of the file itself: codes, lines, suggestions; and the schema for editors."""

from pathlib import Path

import pytest

from autoresearch.playbook import Library, MalformedPlaybook, Problem, json_schema
from autoresearch.playbook.library import BUILT_IN

GOOD = """\
schema: autoresearch/playbook/v1
id: mine
title: Mine
factors:
  - name: group_size
    levels: [4, 16]
    control: 4
profiles:
  quick:
    pilot: 3
    looks: [5]
"""


def problems(tmp_path: Path, text: str) -> list[Problem]:
    (tmp_path / "mine.yaml").write_text(text)
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    with pytest.raises(MalformedPlaybook) as refused:
        library.load("mine")
    return refused.value.problems


def test_the_good_one_is_good(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert Library((("project", tmp_path),)).load("mine").profiles["quick"].looks == (5,)


@pytest.mark.parametrize(
    ("before", "after", "code", "line", "message"),
    [
        ("[4, 16]", "[4, 16", "PB001", 7, "not YAML"),
        ("pilot: 3", "pilot: 3\n    pilot: 4", "PB001", 11, "duplicate key"),
        ("control: 4", "kontrol: 4", "PB002", 7, "did you mean control"),
        ("    pilot: 3\n", "", "PB003", 9, "profiles.quick.pilot is missing"),
        ("pilot: 3", "pilot: many", "PB004", 10, "valid integer"),
        ("pilot: 3", "pilot: 1", "PB004", 10, "greater than or equal to 2"),
        ("looks: [5]", "looks: [5, 5]", "PB004", 9, "looks must rise"),
        ("id: mine", "id: yours", "PB006", 2, "not the file's name"),
        ("playbook/v1", "playbook/v9", "PB007", 1, "must be autoresearch/playbook/v1"),
    ],
)
def test_a_slip_has_a_code_and_a_line(
    tmp_path: Path, before: str, after: str, code: str, line: int, message: str
) -> None:
    assert before in GOOD
    first = problems(tmp_path, GOOD.replace(before, after))[0]
    assert (first.code, first.line) == (code, line)
    assert message in first.message


def test_a_file_that_is_no_mapping(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "# autoresearch/playbook\n- a\n")
    assert problem.code == "PB001"


def test_the_json_schema_knows_the_keys() -> None:
    schema = json_schema()
    assert schema["additionalProperties"] is False
    assert {"schema", "id", "factors", "hypotheses", "profiles", "body"} <= set(
        schema["properties"]
    )
    assert {"schema", "id", "title"} <= set(schema["required"])
