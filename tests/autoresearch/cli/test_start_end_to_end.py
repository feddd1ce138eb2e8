"""The real command on the real model: Ray, MLflow, Optuna, torch, and a report that verifies."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support import goldens
from support.plans import TOPIC

ROOT = Path(__file__).parents[3]


def autoresearch(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), *arguments],
        capture_output=True,
        text=True,
        cwd=home,
        env={name: text for name, text in os.environ.items() if name != "AUTORESEARCH_HOME"},
        check=False,
    )


@pytest.mark.timeout(600)
def test_a_smoke_study_from_topic_to_verified_report(tmp_path: Path, tiny_model: Path):
    started = autoresearch(tmp_path, "start", TOPIC, "--profile", "smoke", "--json")
    assert started.returncode == 0, started.stderr
    assert started.stderr == ""
    ended = json.loads(started.stdout)
    assert ended["status"] == "done"
    assert ended["trials"] == {"done": 10, "failed": 0}
    (hypothesis,) = ended["hypotheses"]
    assert hypothesis["verdict"] == "inconclusive"
    assert hypothesis["n"] == 2
    report = Path(ended["report"])
    assert report == tmp_path / "reports" / ended["study"] / "report.md"
    claims = json.loads(Path(ended["claims"]).read_text())["claims"]
    golden = goldens.read("claims")
    if golden.pop("machine") == goldens.machine():
        assert goldens.claim_digest(claims) == golden

    assert autoresearch(tmp_path, "report", "verify", ended["study"]).returncode == 0
    assert autoresearch(tmp_path, "resume", ended["study"], "--json").returncode == 0
    with closing(sqlite3.connect(tmp_path / "runs" / "mlflow.sqlite")) as store:
        (runs,) = store.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone()
    assert runs == 1 + 10
    text = report.read_text()
    report.write_text(text.replace("2 against 2 seeds", "3 against 2 seeds", 1))
    tampered = autoresearch(tmp_path, "report", "verify", ended["study"])
    assert tampered.returncode == 1
    assert "report.md" in tampered.stdout + tampered.stderr


@pytest.mark.faults
@pytest.mark.timeout(300)
def test_a_detached_study_runs_on_and_can_be_stopped(tmp_path: Path, tiny_model: Path):
    started = autoresearch(tmp_path, "start", TOPIC, "--profile", "smoke", "--detach", "--json")
    study = json.loads(started.stdout)["study"]
    deadline = time.monotonic() + 120
    while not json.loads(autoresearch(tmp_path, "status", "--json").stdout)["trials"]["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert "preregistered" in autoresearch(tmp_path, "logs", study).stdout
    assert autoresearch(tmp_path, "resume", study).returncode == 5
    assert autoresearch(tmp_path, "stop", study).returncode == 0
    assert json.loads(autoresearch(tmp_path, "status", "--json").stdout)["status"] == "stopped"
