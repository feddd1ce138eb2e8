"""CONTRIBUTING.md says how to add a factor and a playbook: added in a copy, both are planned."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

#: Plans a study for each topic by the command line, in one process.
START = """
import json, sys
from typer.testing import CliRunner
import autoresearch
from autoresearch.cli.app import app

plans = []
for topic in sys.argv[1:]:
    done = CliRunner().invoke(app, ["start", topic, "--dry-run", "--json"], catch_exceptions=False)
    plans.append(json.loads(done.stdout))
print(json.dumps([autoresearch.__file__, *plans]))
"""


def section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def block(title: str, language: str, index: int = 0) -> str:
    """A code block of a section."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", section(title), re.S)
    return blocks[index]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The plans of a topic of the new factor and of one of the new playbook."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("autoresearch", "swarm", "playbooks"):
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True)
    catalogue = copy / "autoresearch" / "catalogue"
    line = block("A new factor", "python", 1)
    (name,) = re.findall(r'"(\w+)"', line)
    (catalogue / f"{name}.py").write_text(block("A new factor", "python"))
    before, found, rest = (catalogue / "__init__.py").read_text().partition("THEMES = (\n")
    (catalogue / "__init__.py").write_text(before + found + line + rest)
    playbook = block("A new playbook", "yaml")
    (name,) = re.findall(r"`([\w-]+\.yaml)`", section("A new playbook"))
    (copy / "playbooks" / name).write_text(playbook)
    (asked,) = re.findall(r'`autoresearch start "(.*)"`', section("A new factor"))
    (answered,) = re.findall(r"^question: (.*)$", playbook, re.M)
    done = subprocess.run(
        [sys.executable, "-c", START, asked, answered],
        capture_output=True,
        text=True,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
    )
    assert done.returncode == 0, done.stderr
    where, *plans = json.loads(done.stdout.splitlines()[-1])
    assert Path(where).is_relative_to(copy)
    return plans


def test_a_new_factor_is_a_file_and_a_line(planned: list[dict[str, Any]]) -> None:
    plan, _ = planned
    (factor,) = [f for f in plan["factors"] if f["role"] == "treatment"]
    assert plan["playbook"] == "factor-sweep"
    assert (factor["name"], factor["control"]) == ("overlong_penalty", 0.0)
    assert plan["varied"] == ["algorithm.overlong_buffer"]
    assert [arm["levels"] for arm in plan["arms"]] == [
        {"overlong_penalty": level} for level in (0.0, 0.25, 0.5)
    ]
    assert [h["arm"] for h in plan["hypotheses"]] == [arm["id"] for arm in plan["arms"][1:]]
    assert plan["tasks"] == ["chain"]
    assert any("judge by eval/acc" in note for note in plan["notes"])


def test_a_new_playbook_is_a_file(planned: list[dict[str, Any]]) -> None:
    _, plan = planned
    assert plan["playbook"] == "bonus-and-temperature"
    assert plan["varied"] == ["algorithm.entropy_coef", "sampling.temperature"]
    assert len(plan["arms"]) == 4
    assert len(plan["hypotheses"]) == 3
