"""Text that is not YAML is refused in one line, whatever its reader stumbles over."""

from pathlib import Path

import pytest

from swarm.config.yaml_file import read_yaml
from swarm.errors import Refusal

BROKEN = {
    "syntax": b"steps: [",
    "not UTF-8": b"topic: \xff\xfe",
    "no such day": b"steps: 2024-13-45",
    "a tag without a value": b"steps: !!int ''",
    "an unknown truth": b"steps: !!bool maybe",
    "no such character": b'topic: "\\U99999999"',
    "too many brackets": b"[" * 5000,
    "a key twice": b"steps: 1\nsteps: 2",
    "two documents": b"a\n---\nb",
}


@pytest.mark.parametrize("case", BROKEN)
def test_text_that_is_not_yaml(case: str, tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_bytes(BROKEN[case])
    with pytest.raises(Refusal, match=r"^config: .*it\.yaml is not YAML \(.*\); correct it") as end:
        read_yaml(path, "config")
    assert "\n" not in str(end.value)


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_what_is_not_a_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="; give a YAML file"):
        read_yaml(tmp_path / name, "config")


def test_values_are_plain_and_an_empty_file_has_none(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text("steps: 3\ntask: {ref: sort}")
    assert read_yaml(path, "config") == {"steps": 3, "task": {"ref": "sort"}}
    path.write_text("# nothing\n")
    assert read_yaml(path, "config") is None
