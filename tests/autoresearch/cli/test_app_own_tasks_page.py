"""The worked example of docs/own-tasks.md, run as it stands."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autoresearch.cli.app import app as autoresearch
from swarm.cli.app import app as swarm
from swarm.disk.folder import read_series

PAGE = Path(__file__).parents[3] / "docs" / "own-tasks.md"

pytestmark = pytest.mark.usefixtures("tiny_model")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = PAGE.read_text().partition("\n## A reward\n")[2]
    blocks = dict(re.findall(r"```(python|yaml|sh)\n(.*?)```", worked, re.DOTALL))
    (tmp_path / "sorting.py").write_text(blocks["python"])
    (tmp_path / "sorting.yaml").write_text(blocks["yaml"])
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(line) for line in blocks["sh"].splitlines()]
    assert len(commands) == 5
    for program, *words in commands:
        app = {"swarm": swarm, "autoresearch": autoresearch}[program]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (words, done.output, done.exception)
    assert len(read_series(tmp_path / "sorting", "reward/mean")) == 8
    assert 0 < read_series(tmp_path / "sorting", "eval/acc")[0][2] < 1
