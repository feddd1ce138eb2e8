"""The command line in a home of its own."""

import sys
from pathlib import Path

import pytest
from support.commands import Run, Said
from support.plans import TOPIC, plan_for

from autoresearch.cli.app import main
from autoresearch.run.study import new_study
from autoresearch.study.home import Home
from autoresearch.study.options import StartOptions


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Run:
    """`run("start", TOPIC)`: what `autoresearch start TOPIC` does and says."""
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["autoresearch", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Said(int(end.value.code or 0), said.out, said.err)

    return command


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def study(home: Home) -> str:
    """A new study in `home`, of which nothing has run."""
    plan = plan_for(profile="smoke")
    return new_study(home, plan, StartOptions(topic=TOPIC, profile="smoke"))
