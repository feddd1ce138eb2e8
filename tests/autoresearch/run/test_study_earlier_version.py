"""A study that version 0.1.0 left behind, killed in its confirmation."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.goldens import GOLDENS

from autoresearch.cli import app
from autoresearch.study.database import VERSION
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger

STUDY = "does-dividing-by-the-group-std-matter-in-02e4f7"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.ledger_file.parent.mkdir(parents=True)
    script = (GOLDENS / "ledger_of_0.1.0.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(home.ledger_file)) as db:
        db.executescript(f"{script} PRAGMA user_version = {VERSION};")
    return home


def test_it_is_refused_in_one_line_that_says_what_to_do(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Ledger.open(home).facts(STUDY)
    monkeypatch.setenv("AUTORESEARCH_HOME", str(home.root))
    monkeypatch.setattr(sys, "argv", ["autoresearch", "resume", STUDY, "--json"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "begun by an earlier version" in line
    assert "start anew: autoresearch start 'does dividing by the group std matter in GRPO?'" in line
    assert Ledger.open(home).facts(STUDY) == before


def test_it_can_still_be_read(home: Home) -> None:
    facts = Ledger.open(home).facts(STUDY)
    assert facts.stage == "confirm"
    assert facts.plan is not None
    assert facts.plan.digest() == facts.registration
    assert [t.spec.registration for t in facts.trials] == [facts.registration] * len(facts.trials)
