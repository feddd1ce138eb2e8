"""What MLflow shows of a study: while it runs, after a restart, and rebuilt from run folders."""

import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from support import fault_entries as entries
from support.small_trials import STUDY, specs

from autoresearch.execute import projector as module
from autoresearch.execute.following import Tail
from autoresearch.execute.projector import Projector, rebuild
from autoresearch.study.facts import AttemptFacts, StudyFacts, TrialFacts
from autoresearch.study.home import Home

VERDICTS = {"H1": "supported", "H2": "inconclusive"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(entries, "STEP_SECONDS", 0)
    monkeypatch.setattr(module, "EVERY", 0.05)
    monkeypatch.setattr(module, "PATIENCE", 300.0)  # what is tested is not how fast it is
    (tmp_path / "runs").mkdir()
    return Home(tmp_path)


def finished_study(home: Home) -> StudyFacts:
    """Two trials with real run folders; the second needed two attempts."""
    trials = []
    for spec, count in zip(specs(1, 2, steps=5), (1, 2), strict=True):
        attempts = []
        for number in range(1, count + 1):
            folder = home.attempt(STUDY, spec.id, number)
            entries.run(spec.config, folder)
            lost = number < count
            attempts.append(
                AttemptFacts(
                    number=number,
                    folder=folder,
                    status="lost" if lost else "finished",
                    cause="killed" if lost else "",
                    started_at=1000.0 * number,
                    seconds=10.0,
                )
            )
        trials.append(TrialFacts(spec, "finished", tuple(attempts)))
    return StudyFacts(STUDY, "a topic", "done", "done", 0.0, trials=tuple(trials))


def watch(home: Home, facts: StudyFacts, status: str = "") -> None:
    """Tell a projector of the study as a runner would, row by row."""
    with Projector(home, facts.study, facts.topic) as projector:
        for trial in facts.trials:
            for attempt in trial.attempts:
                running = replace(attempt, status="running")
                rows = Tail(attempt.folder / "metrics.jsonl").read()
                for first, row in enumerate(rows):
                    projector.show(trial.spec, running, first, [row])
                projector.show(trial.spec, attempt)
        if status:
            projector.study_ended(status, VERDICTS)
    assert projector.problem == ""


def shown(home: Home) -> dict:
    """What MLflow holds on the study, without its own ids."""
    client = MlflowClient(home.mlflow_uri)
    experiment = client.get_experiment_by_name(STUDY)
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    names = {run.info.run_id: run.info.run_name for run in runs}
    view = {}
    for run in runs:
        tags = {
            name: names.get(value, value)
            for name, value in run.data.tags.items()
            if name.startswith("autoresearch.") or name == "mlflow.parentRunId"
        }
        history = {
            (m.key, m.step, m.timestamp, m.value)
            for name in run.data.metrics
            for m in client.get_metric_history(run.info.run_id, name)
        }
        count = sum(
            len(client.get_metric_history(run.info.run_id, name)) for name in run.data.metrics
        )
        assert count == len(history), "a metric was logged twice"
        view[run.info.run_name] = (run.info.status, tags, run.data.params, history)
    assert len(view) == len(runs)
    return view


def test_a_study_is_shown_once_however_often_it_is_told(home: Home) -> None:
    facts = finished_study(home)
    watch(home, facts, "done")
    view = shown(home)
    assert view.keys() == {STUDY, "a reverse seed 1", "a reverse seed 2", "a reverse seed 2 #2"}
    status, tags, params, history = view["a reverse seed 2 #2"]
    assert status == "FINISHED"
    assert tags["mlflow.parentRunId"] == STUDY
    assert (tags["autoresearch.arm"], tags["autoresearch.phase"]) == ("a", "confirm")
    assert params["seed"] == "2"
    assert sorted(step for name, step, *_ in history if name == "reward/mean") == list(range(6))
    assert view["a reverse seed 2"][0] == "KILLED"
    assert view[STUDY][0] == "FINISHED"
    assert view[STUDY][1]["autoresearch.verdict.H1"] == "supported"
    watch(home, facts, "done")
    assert shown(home) == view


def test_a_lost_view_is_rebuilt_from_run_folders(home: Home) -> None:
    facts = finished_study(home)
    watch(home, facts, "done")
    view = shown(home)
    rebuild(facts, VERDICTS, home)
    assert shown(home) == view
    elsewhere = Home(home.root / "elsewhere")  # MLflow keeps a store that is deleted open
    rebuild(facts, VERDICTS, elsewhere)
    assert shown(elsewhere) == view


def test_a_resumed_study_shows_what_an_earlier_driver_left_out(home: Home) -> None:
    """Of a driver that was killed, or that could not write to MLflow."""
    facts = finished_study(home)
    elsewhere = Home(home.root / "elsewhere")
    rebuild(facts, VERDICTS, elsewhere)
    cut = replace(
        facts.trials[0], attempts=(replace(facts.trials[0].attempts[0], status="running"),)
    )
    watch(home, replace(facts, trials=(cut,)))
    with Projector(home, STUDY, "a topic", earlier=facts.trials) as projector:
        projector.study_ended("done", VERDICTS)
    assert shown(home) == shown(elsewhere)


@pytest.mark.faults
def test_a_locked_store_is_written_once_it_is_free(home: Home) -> None:
    """Another program writes to it for longer than MLflow waits."""
    facts = finished_study(home)
    elsewhere = Home(home.root / "elsewhere")
    rebuild(facts, VERDICTS, elsewhere)
    watch(home, replace(facts, trials=()), "paused")
    other = sqlite3.connect(home.runs / "mlflow.sqlite", check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    with Projector(home, STUDY, "a topic", earlier=facts.trials) as projector:
        projector.study_ended("done", VERDICTS)
        projector.show(facts.trials[0].spec, facts.trials[0].attempts[0])
        while not projector.problem:
            time.sleep(0.1)
        assert "locked" in projector.problem
        threading.Timer(1.0, other.rollback).start()
    assert projector.problem == ""
    assert shown(home) == shown(elsewhere)


def test_a_study_without_attempts_opens_no_mlflow(home: Home) -> None:
    with Projector(home, STUDY, "a topic"):
        pass
    assert list(home.runs.iterdir()) == []


def test_a_finished_study_carries_its_report_and_a_paused_one_no_verdict(home: Home) -> None:
    facts = finished_study(home)
    home.report(STUDY).mkdir(parents=True)
    (home.report(STUDY) / "report.md").write_text("# What was found\n", encoding="utf-8")
    watch(home, facts, "paused")
    assert "autoresearch.verdict.H1" not in shown(home)[STUDY][1]
    assert described(home) == "a topic"
    rebuild(facts, VERDICTS, home)
    assert shown(home)[STUDY][1]["autoresearch.verdict.H2"] == "inconclusive"
    assert described(home).startswith("### What was found")


def described(home: Home) -> str:
    """The description of the study's run."""
    client = MlflowClient(home.mlflow_uri)
    experiment = client.get_experiment_by_name(STUDY)
    assert experiment is not None
    (parent,) = client.search_runs([experiment.experiment_id], "tags.`autoresearch.kind` = 'study'")
    return str(parent.data.tags["mlflow.note.content"])
