"""Whole studies through real Ray and MLflow, with trials that fail and drivers that are killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import fault_entries, study_driver
from support.child_path import child_path
from support.plans import TOPIC

from autoresearch.execute.observer import Observer
from autoresearch.planner.planning import plan_study
from autoresearch.report import verify
from autoresearch.run.study import new_study, run_study
from autoresearch.study.facts import StudyFacts, TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions
from swarm import models
from swarm.errors import ModelUnavailable, Refusal

#: Of this study seed no trial is a fault; of seed 0 each tuning trial fails, and each of the
#: confirmation is killed once.
SOUND, FAULTY = 1, 0


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault entries need no model, and their workers must find them."""
    monkeypatch.setattr(models, "ensure", lambda ref, progress=None: Path())
    monkeypatch.setenv("PYTHONPATH", child_path())


def start(home: Home, seed: int) -> str:
    options = StartOptions(topic=TOPIC, profile="smoke", seed=seed)
    return new_study(home, plan_study(options).plan, options)


def facts_of(home: Home, study: str) -> StudyFacts:
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    ledger.close()
    return facts


def test_a_study_whose_trials_fail_ends_with_a_report_that_says_so(tmp_path: Path):
    home = Home(tmp_path)
    study = start(home, FAULTY)
    summary = run_study(home, study, observer=Observer(), entry=fault_entries.ENTRY)
    facts = facts_of(home, study)
    assert (summary.end, summary.exit_code, facts.status) == ("done", 0, "done")
    assert (summary.done, summary.failed) == (6, 4)
    assert {t.status for t in facts.of_phase("tuning")} == {"failed"}
    retries = facts.plan.budget.retries
    assert all(len(t.attempts) == 1 + retries for t in facts.of_phase("tuning"))
    assert all(len(t.attempts) == 2 for t in facts.of_phase("confirm"))
    assert facts.records["tuning"]["value"] == facts.plan.train.optim.lr
    text = Path(summary.report).read_text()
    assert "cannot learn" in text
    assert verify(facts, home) == []
    assert (home.runs / "mlflow.sqlite").exists()
    assert [h["verdict"] for h in summary.hypotheses] == ["inconclusive"]
    again = run_study(home, study, observer=Observer(), entry="nothing:at_all")
    assert again.hypotheses == summary.hypotheses


def test_a_failing_reward_ends_the_study_in_one_line(tmp_path: Path):
    home = Home(tmp_path)
    study = start(home, SOUND)
    entry = fault_entries.BROKEN_REWARD
    summary = run_study(home, study, observer=Observer(), entry=entry)
    assert (summary.end, summary.exit_code, summary.report) == ("failed", 1, None)
    assert summary.cause == (
        "praise in mine.py returned 1 values for 4 completions on row 7; correct it and start anew"
    )
    facts = facts_of(home, study)
    assert all(len(trial.attempts) <= 1 for trial in facts.trials)
    assert any(trial.status == "failed" for trial in facts.trials)


def test_a_model_that_is_gone_pauses_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan's own: its playbook or planner may have named another than the options."""

    def gone(ref: str) -> Path:
        raise ModelUnavailable(f"{ref!r} is gone", "bring it back")

    monkeypatch.setattr(models, "ensure", gone)
    home, options = Home(tmp_path), StartOptions(topic=TOPIC, profile="smoke")
    plan = plan_study(options).plan
    train = plan.train.with_values({"model.ref": "mine"})
    plan = plan.model_copy(update={"model": "mine", "train": train})
    study = new_study(home, plan, options)
    with pytest.raises(Refusal, match=r"model\.ref: 'mine' is gone; bring it back"):
        run_study(home, study, observer=Observer(), entry=fault_entries.ENTRY)
    assert facts_of(home, study).status == "paused"


@contextmanager
def driving(home: Home, study: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", study_driver.__name__, str(home.root), study],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def finished(home: Home, study: str) -> list[TrialFacts]:
    return [t for t in facts_of(home, study).trials if t.status == "finished"]


@pytest.mark.faults
@pytest.mark.parametrize("count", [1, 4, 7])
def test_a_killed_study_goes_on_at_once(tmp_path: Path, count: int):
    home = Home(tmp_path)
    study = start(home, SOUND)
    with driving(home, study) as process:
        deadline = time.monotonic() + 120
        while len(finished(home, study)) < count:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
    before = finished(home, study)
    with driving(home, study) as process:
        assert process.wait(timeout=240) == 0
    facts = facts_of(home, study)
    after = {t.spec.id: t for t in facts.trials}
    assert len(after) == 10
    assert all(after[trial.spec.id] == trial for trial in before)
    assert verify(facts, home) == []


@pytest.mark.faults
def test_a_signal_pauses_a_study_which_then_goes_on(tmp_path: Path):
    home = Home(tmp_path)
    study = start(home, SOUND)
    with driving(home, study) as process:
        deadline = time.monotonic() + 120
        while not finished(home, study):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 3
    assert facts_of(home, study).status == "paused"
    with driving(home, study) as process:
        assert process.wait(timeout=240) == 0
    assert facts_of(home, study).status == "done"


@pytest.mark.faults
def test_a_spent_budget_ends_the_run_and_more_of_it_is_a_deviation(tmp_path: Path):
    home = Home(tmp_path)
    study = start(home, SOUND)
    ledger = Ledger.open(home)
    plan = ledger.facts(study).plan
    assert plan is not None
    limits = plan.budget.model_copy(update={"seconds": 0.5})
    with ledger.hold(study):
        ledger.save_plan(study, plan.model_copy(update={"budget": limits}))
        ledger.set_stage(study, "freeze")
    ledger.close()
    cut = run_study(home, study, observer=Observer(), entry=fault_entries.ENTRY)
    assert (cut.end, cut.exit_code) == ("budget", 4)
    assert facts_of(home, study).status == "paused"
    entry = fault_entries.ENTRY
    done = run_study(home, study, observer=Observer(), entry=entry, more_seconds=300)
    assert done.end == "done"
    assert "budget of 0 s was raised" in Path(done.report).read_text()
