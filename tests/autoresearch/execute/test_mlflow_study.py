"""A study in a real MLflow store: what it shows, and that saying it twice changes nothing."""

import json
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from support.mlflow_rows import CONFIG, rows

from autoresearch.execute.mlflow_study import MlflowStudy


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one MLflow store; each test has a study of its own in it."""
    return tmp_path_factory.mktemp("runs")


def opened(store: Path, study: str) -> MlflowStudy:
    log = store / study / "study.log"
    return MlflowStudy(f"sqlite:///{store}/mlflow.sqlite", study, f"topic of {study}", log)


def attempt(mlflow: MlflowStudy, trial: str, number: int) -> None:
    mlflow.attempt(
        trial,
        number,
        name=f"{trial}/{number}",
        started_at=1000.0,
        tags={"autoresearch.arm": "adv_std-none", "autoresearch.seed": "3"},
        config=CONFIG,
    )


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
        attempt(mlflow, "t1", 1)
        attempt(mlflow, "t1", 2)
        mlflow.log("t1", 2, 0, rows(0, 4))
        mlflow.end("t1", 1, "lost", cause="killed", ended_at=1001.0)
        mlflow.end("t1", 2, "finished", cause="", ended_at=1002.0)
        mlflow.end_study("done", {}, store)
    shown = Shown(store, "s1")
    (parent,) = shown.parents
    assert parent.info.status == "FINISHED"
    assert parent.data.tags["autoresearch.topic"] == "topic of s1"
    assert shown.children.keys() == {("t1", "1"), ("t1", "2")}
    lost, finished = shown.children["t1", "1"], shown.children["t1", "2"]
    assert finished.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert finished.data.tags["autoresearch.study"] == "s1"
    assert finished.data.tags["autoresearch.arm"] == "adv_std-none"
    assert (finished.info.status, lost.info.status) == ("FINISHED", "KILLED")
    assert (lost.data.tags["autoresearch.status"], lost.data.tags["autoresearch.cause"]) == (
        "lost",
        "killed",
    )
    assert "autoresearch.cause" not in finished.data.tags
    assert finished.info.end_time == 1_002_000
    assert finished.data.params["optim.lr"] == "0.001"
    assert shown.steps("t1", 2) == [0, 1, 2, 3]
    assert capfd.readouterr() == ("", "")
    assert "mlflow" in (store / "s1" / "study.log").read_text()


def test_telling_again_adds_nothing(store: Path) -> None:
    with opened(store, "s2") as mlflow:
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 3))
        mlflow.log("t1", 1, 1, rows(1, 5))
    with opened(store, "s2") as mlflow:
        attempt(mlflow, "t1", 1)
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 5))
        mlflow.log("t1", 1, 5, rows(5, 6))
        mlflow.end("t1", 1, "finished", cause="", ended_at=1003.0)
        mlflow.end("t1", 1, "finished", cause="", ended_at=1003.0)
    shown = Shown(store, "s2")
    assert len(shown.parents) == len(shown.children) == 1
    assert shown.steps("t1", 1) == [0, 1, 2, 3, 4, 5]


def test_a_study_that_goes_on_is_running_again_until_it_ends(store: Path) -> None:
    with opened(store, "s3") as mlflow:
        mlflow.end_study("paused", {}, store)
    (parent,) = Shown(store, "s3").parents
    assert (parent.info.status, parent.data.tags["autoresearch.status"]) == ("KILLED", "paused")
    with opened(store, "s3"):
        (parent,) = Shown(store, "s3").parents
        assert parent.info.status == "RUNNING"


def test_the_experiment_shows_arm_seed_phase_and_the_metrics_under_test(store: Path) -> None:
    log = store / "s4" / "study.log"
    uri = f"sqlite:///{store}/mlflow.sqlite"
    with MlflowStudy(uri, "s4", "topic", log, ["eval/length", "eval/acc"]):
        pass
    experiment = MlflowClient(uri).get_experiment_by_name("s4")
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
