"""`autoresearch start --dry-run`: a plan, and nothing on disk."""

from pathlib import Path

import pytest
from support.commands import Run
from support.plans import TOPIC

from autoresearch.study.home import Home


def test_a_folder_that_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "file" / "home"))
    said = run("start", TOPIC)
    assert said.code == 2
    assert "AUTORESEARCH_HOME" in said.err


def test_dry_run_prints_the_plan_and_touches_nothing(run: Run, home: Home):
    said = run("start", TOPIC, "--dry-run", "--json")
    assert (said.code, said.err) == (0, "")
    assert said.document["playbook"] == "advantage-std"
    assert {"hypotheses", "arms", "seeds", "trials", "estimated_seconds"} <= said.document.keys()
    shown = run("start", TOPIC, "--dry-run")
    assert said.document["question"] in " ".join(shown.out.split())
    assert "confirmation per arm" in shown.out
    assert not home.root.exists()


def test_seeds_and_settings_reach_the_plan(run: Run):
    plain = run("start", TOPIC, "--dry-run", "--json").document
    other = run("start", TOPIC, "--seed", "7", "--dry-run", "--json").document
    assert plain["seeds"]["confirm"] != other["seeds"]["confirm"]
    fixed = run("start", TOPIC, "--set", "optim.lr=0.001", "--dry-run", "--json").document
    assert fixed["seeds"]["tuning"] == []
