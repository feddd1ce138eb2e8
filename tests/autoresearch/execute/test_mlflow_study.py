"""A study in a real MLflow store: what it shows, and that saying it twice changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from mlflow.tracking import MlflowClient
from support.mlflow_rows import rows
from support.plans import trial_spec

from autoresearch.execute.mlflow_study import MlflowStudy
from autoresearch.study.facts import AttemptFacts
from autoresearch.study.home import Home

TRIAL = trial_spec(3)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one MLflow store; each test has a study of its own in it."""
    store = tmp_path_factory.mktemp("home") / "runs"
    store.mkdir()
    return store


def opened(store: Path, study: str) -> MlflowStudy:
    return MlflowStudy(Home(store.parent), study, f"topic of {study}")


def attempt(number: int, **fields: Any) -> AttemptFacts:
    """An attempt that began at second 1000 and, unless a field says otherwise, still runs."""
    usual: dict[str, Any] = {"status": "running", "started_at": 1000.0}
    return AttemptFacts(number, Path("nowhere"), **{**usual, **fields})


class Shown:
    """The study as MLflow's own client shows it."""

    def __init__(self, store: Path, study: str) -> None:
        self.client = MlflowClient(f"sqlite:///{store}/mlflow.sqlite")
        experiment = self.client.get_experiment_by_name(study)
        assert experiment is not None
        runs = self.client.search_runs([experiment.experiment_id])
        self.parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
        self.children = {
            (run.data.tags["autoresearch.trial"], run.data.tags["autoresearch.attempt"]): run
            for run in runs
            if run not in self.parents
        }

    def steps(self, trial: str, number: int) -> list[int]:
        run = self.children[trial, str(number)].info.run_id
        return sorted(m.step for m in self.client.get_metric_history(run, "reward/mean"))


def test_a_study_is_a_parent_with_a_child_for_each_attempt(store: Path, capfd) -> None:
    with opened(store, "s1") as mlflow:
        mlflow.show(TRIAL, attempt(1), 0, [])
        mlflow.show(TRIAL, attempt(2), 0, rows(0, 4))
        mlflow.show(TRIAL, attempt(1, status="lost", cause="killed", seconds=1.0), 0, [])
        mlflow.show(TRIAL, attempt(2, status="finished", seconds=2.0), 4, [])
        mlflow.end_study("done", {}, store)
    shown = Shown(store, "s1")
    (parent,) = shown.parents
    assert parent.info.status == "FINISHED"
    assert parent.data.tags["autoresearch.topic"] == "topic of s1"
    assert shown.children.keys() == {(TRIAL.id, "1"), (TRIAL.id, "2")}
    lost, finished = shown.children[TRIAL.id, "1"], shown.children[TRIAL.id, "2"]
    assert finished.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert finished.data.tags["autoresearch.study"] == "s1"
    assert finished.data.tags["autoresearch.arm"] == TRIAL.arm
    assert finished.data.tags["autoresearch.seed"] == "3"
    assert "autoresearch.label" not in finished.data.tags
    assert (lost.info.run_name, finished.info.run_name) == (
        "a reverse seed 3",
        "a reverse seed 3 #2",
    )
    assert (finished.info.status, lost.info.status) == ("FINISHED", "KILLED")
    assert (lost.data.tags["autoresearch.status"], lost.data.tags["autoresearch.cause"]) == (
        "lost",
        "killed",
    )
    assert "autoresearch.cause" not in finished.data.tags
    assert finished.info.end_time == 1_002_000
    assert finished.data.params["optim.lr"] == "0.001"
    assert shown.steps(TRIAL.id, 2) == [0, 1, 2, 3]
    assert capfd.readouterr() == ("", "")
    assert "mlflow" in (store / "s1" / "study.log").read_text()


def test_telling_again_adds_nothing(store: Path) -> None:
    with opened(store, "s2") as mlflow:
        mlflow.show(TRIAL, attempt(1), 0, rows(0, 3))
        mlflow.show(TRIAL, attempt(1), 1, rows(1, 5))
    with opened(store, "s2") as mlflow:
        mlflow.show(TRIAL, attempt(1), 0, rows(0, 5))
        mlflow.show(TRIAL, attempt(1, status="finished", seconds=3.0), 5, rows(5, 6))
        mlflow.show(TRIAL, attempt(1, status="finished", seconds=3.0), 6, [])
    shown = Shown(store, "s2")
    assert len(shown.parents) == len(shown.children) == 1
    assert shown.steps(TRIAL.id, 1) == [0, 1, 2, 3, 4, 5]


def test_a_study_that_goes_on_is_running_again_until_it_ends(store: Path) -> None:
    with opened(store, "s3") as mlflow:
        mlflow.end_study("paused", {}, store)
    (parent,) = Shown(store, "s3").parents
    assert (parent.info.status, parent.data.tags["autoresearch.status"]) == ("KILLED", "paused")
    with opened(store, "s3"):
        (parent,) = Shown(store, "s3").parents
        assert parent.info.status == "RUNNING"


def test_the_experiment_shows_arm_seed_phase_and_the_metrics_under_test(store: Path) -> None:
    with MlflowStudy(Home(store.parent), "s4", "topic", ["eval/length", "eval/acc"]):
        pass
    experiment = MlflowClient(f"sqlite:///{store}/mlflow.sqlite").get_experiment_by_name("s4")
    assert experiment is not None
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    view = json.loads(experiment.tags["mlflow.sharedViewState.training"])
    assert view["selectedColumns"] == [
        "tags.`autoresearch.arm`",
        "tags.`autoresearch.seed`",
        "tags.`autoresearch.phase`",
        "metrics.`eval/length`",
        "metrics.`eval/acc`",
    ]
