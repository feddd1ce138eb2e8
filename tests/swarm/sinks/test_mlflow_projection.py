"""A study in a real MLflow store: what it shows, and that saying it twice changes nothing."""

import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow.tracking import MlflowClient

from swarm.config import TrainConfig
from swarm.sinks import mlflow as sink
from swarm.sinks.mlflow import MlflowProjection

CONFIG = TrainConfig(seed=3).model_dump(mode="json")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one MLflow store; each test has a study of its own in it."""
    return tmp_path_factory.mktemp("runs")


def projection(store: Path, study: str) -> MlflowProjection:
    log = store / study / "study.log"
    return MlflowProjection(f"sqlite:///{store}/mlflow.sqlite", study, f"topic of {study}", log)


def attempt(mlflow: MlflowProjection, trial: str, number: int) -> None:
    mlflow.attempt(
        trial,
        number,
        name=f"{trial}/{number}",
        started_at=1000.0,
        tags={"autoresearch.arm": "adv_std-none", "autoresearch.seed": "3"},
        config=CONFIG,
    )


def rows(start: int, stop: int) -> list[dict]:
    return [
        {"step": step, "wall": step / 2, "metrics": {"reward/mean": step / 10, "eval/acc": 0.5}}
        for step in range(start, stop)
    ]


class Shown:
    """The study as MLflow's own client shows it."""

    def __init__(self, store: Path, study: str) -> None:
        self.client = MlflowClient(f"sqlite:///{store}/mlflow.sqlite")
        experiment = self.client.get_experiment_by_name(study)
        assert experiment is not None
        self.experiment = experiment
        runs = self.client.search_runs([experiment.experiment_id])
        self.parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
        self.children = {
            (run.data.tags["autoresearch.trial"], run.data.tags["autoresearch.attempt"]): run
            for run in runs
            if run not in self.parents
        }

    def history(self, trial: str, number: int, metric: str = "reward/mean") -> list[tuple]:
        run = self.children[trial, str(number)].info.run_id
        history = self.client.get_metric_history(run, metric)
        return sorted((m.step, m.timestamp, m.value) for m in history)


def test_a_study_is_a_parent_with_a_child_for_each_attempt(store: Path, capfd) -> None:
    with projection(store, "s1") as mlflow:
        attempt(mlflow, "t1", 1)
        attempt(mlflow, "t1", 2)
        mlflow.log("t1", 2, 0, rows(0, 4))
        mlflow.end("t1", 1, "lost", cause="killed", ended_at=1001.0)
        mlflow.end("t1", 2, "finished", cause="", ended_at=1002.0)
        mlflow.end_study("done")
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
    assert lost.data.tags["autoresearch.cause"] == "killed"
    assert finished.info.end_time == 1_002_000
    assert finished.data.params["optim.lr"] == "0.001"
    assert finished.data.params["seed"] == "3"
    assert shown.history("t1", 2) == [
        (0, 1_000_000, 0.0),
        (1, 1_000_500, 0.1),
        (2, 1_001_000, 0.2),
        (3, 1_001_500, 0.3),
    ]
    assert shown.experiment.artifact_location.startswith("file:///")
    assert capfd.readouterr() == ("", "")
    assert "mlflow" in (store / "s1" / "study.log").read_text()


def test_logging_again_adds_nothing(store: Path) -> None:
    with projection(store, "s2") as mlflow:
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 3))
        mlflow.log("t1", 1, 1, rows(1, 5))
    with projection(store, "s2") as mlflow:
        attempt(mlflow, "t1", 1)
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 5))
        mlflow.log("t1", 1, 5, rows(5, 6))
        mlflow.end("t1", 1, "finished", cause="", ended_at=1003.0)
        mlflow.end("t1", 1, "finished", cause="", ended_at=1003.0)
    shown = Shown(store, "s2")
    assert len(shown.parents) == len(shown.children) == 1
    assert [step for step, *_ in shown.history("t1", 1)] == [0, 1, 2, 3, 4, 5]


def test_rows_logged_before_a_crash_that_lost_their_count_are_kept_once(store: Path) -> None:
    with projection(store, "s3") as mlflow:
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 4))
    shown = Shown(store, "s3")
    shown.client.set_tag(shown.children["t1", "1"].info.run_id, sink.ROWS, "0")
    with projection(store, "s3") as mlflow:
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, rows(0, 6))
    assert [step for step, *_ in Shown(store, "s3").history("t1", 1)] == [0, 1, 2, 3, 4, 5]


def test_non_finite_values_are_logged(store: Path) -> None:
    bad = {
        "step": 0,
        "wall": 0.0,
        "metrics": {"loss/policy": math.nan, "policy/ratio_max": math.inf},
    }
    with projection(store, "s4") as mlflow:
        attempt(mlflow, "t1", 1)
        mlflow.log("t1", 1, 0, [bad])
    shown = Shown(store, "s4")
    assert math.isnan(shown.history("t1", 1, "loss/policy")[0][2])
    assert shown.history("t1", 1, "policy/ratio_max")[0][2] > 1e300


def test_a_long_run_is_logged_in_several_batches(store: Path) -> None:
    with projection(store, "s5") as mlflow:
        attempt(mlflow, "t1", 1)
        started = time.monotonic()
        mlflow.log("t1", 1, 0, rows(0, 1100))
        assert time.monotonic() - started < 10
    assert len(Shown(store, "s5").history("t1", 1)) == 1100


@given(st.lists(st.integers(0, 400), max_size=30))
def test_batches_keep_rows_whole_and_in_order(sizes: list[int]) -> None:
    rows = [{"metrics": dict.fromkeys(map(str, range(size)), 0.0)} for size in sizes]
    batches = list(sink._batches(rows))
    assert [row for batch in batches for row in batch] == rows
    assert all(batches)
    for batch in batches:
        assert sum(len(row["metrics"]) for row in batch) <= sink.METRICS_A_BATCH


def test_a_config_flattens_to_dotted_leaves() -> None:
    assert list(sink.flatten({"a": {"b": 1, "c": {"d": None}}, "e": [1]})) == [
        ("a.b", 1),
        ("a.c.d", None),
        ("e", [1]),
    ]
