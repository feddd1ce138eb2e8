"""Runs in a real MLflow store: what is shown, and that logging twice changes nothing."""

import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow.tracking import MlflowClient
from support.mlflow_rows import CONFIG, rows

from swarm.sinks import mlflow as sink
from swarm.sinks.mlflow import LoggedRun, MlflowExperiment
from swarm.sinks.mlflow_page import Column


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one MLflow store; each test has an experiment of its own in it."""
    return tmp_path_factory.mktemp("runs")


def uri(store: Path) -> str:
    return f"sqlite:///{store}/mlflow.sqlite"


def opened(store: Path, name: str) -> MlflowExperiment:
    return MlflowExperiment(uri(store), name, store / name / "mlflow.log")


def logged(experiment: MlflowExperiment, run: str = "a") -> LoggedRun:
    return experiment.run(
        {"run": run}, name=f"run {run}", started_at=1000.0, tags={"kind": "test"}, config=CONFIG
    )


def history(store: Path, run: LoggedRun, metric: str = "reward/mean") -> list[tuple]:
    """As MLflow's own client shows it."""
    found = MlflowClient(uri(store)).get_metric_history(run.id, metric)
    return sorted((m.step, m.timestamp, m.value) for m in found)


def test_a_run_shows_its_config_its_rows_and_how_it_ended(store: Path, capfd) -> None:
    with opened(store, "e1") as experiment:
        run = logged(experiment)
        experiment.log(run, 0, rows(0, 4))
        experiment.end(run, "finished", ended_at=1002.0)
    client = MlflowClient(uri(store))
    shown = client.get_run(run.id)
    assert (shown.info.run_name, shown.info.status) == ("run a", "FINISHED")
    assert (shown.info.start_time, shown.info.end_time) == (1_000_000, 1_002_000)
    assert (shown.data.tags["run"], shown.data.tags["kind"]) == ("a", "test")
    assert (shown.data.params["optim.lr"], shown.data.params["seed"]) == ("0.001", "3")
    assert history(store, run) == [
        (0, 1_000_000, 0.0),
        (1, 1_000_500, 0.1),
        (2, 1_001_000, 0.2),
        (3, 1_001_500, 0.3),
    ]
    location = client.get_experiment_by_name("e1").artifact_location
    assert location == (store / "e1" / "mlflow").as_uri()
    assert capfd.readouterr() == ("", "")
    assert "mlflow" in (store / "e1" / "mlflow.log").read_text()


@pytest.mark.parametrize(
    ("status", "shown"),
    [("finished", "FINISHED"), ("diverged", "FAILED"), ("failed", "FAILED"), ("lost", "KILLED")],
)
def test_an_end_has_the_nearest_status_of_mlflow(store: Path, status, shown: str) -> None:
    with opened(store, "ends") as experiment:
        run = logged(experiment, status)
        experiment.end(run, status, ended_at=1001.0)
    assert MlflowClient(uri(store)).get_run(run.id).info.status == shown


def test_an_experiment_is_one_of_training_runs_and_is_tagged_when_it_is_opened_again(
    store: Path,
) -> None:
    client = MlflowClient(uri(store))
    client.create_experiment("old")
    for _ in range(2):
        with MlflowExperiment(uri(store), "old", store / "mlflow.log", tags={"by": "hand"}):
            pass
    assert client.get_experiment_by_name("old").tags == {
        "mlflow.experimentKind": "custom_model_development",
        "by": "hand",
    }
    with opened(store, "new"):
        pass
    assert client.get_experiment_by_name("new").tags == {
        "mlflow.experimentKind": "custom_model_development"
    }


def test_runs_are_told_apart_by_their_own_tags(store: Path) -> None:
    with opened(store, "e2") as experiment:
        a, b = logged(experiment, "a"), logged(experiment, "b")
        assert a.id != b.id
        assert logged(experiment, "a").id == a.id
        assert experiment.find({"run": "c"}) is None


def test_logging_again_adds_nothing(store: Path) -> None:
    with opened(store, "e3") as experiment:
        run = logged(experiment)
        experiment.log(run, 0, rows(0, 3))
        experiment.log(run, 1, rows(1, 5))
    with opened(store, "e3") as experiment:
        again = logged(experiment)
        assert (again.id, again.rows) == (run.id, 5)
        experiment.log(again, 0, rows(0, 5))
        experiment.log(again, 5, rows(5, 6))
    assert [step for step, *_ in history(store, run)] == [0, 1, 2, 3, 4, 5]


def test_rows_logged_before_a_crash_that_lost_their_count_are_kept_once(store: Path) -> None:
    with opened(store, "e4") as experiment:
        run = logged(experiment)
        experiment.log(run, 0, rows(0, 4))
    MlflowClient(uri(store)).set_tag(run.id, "swarm.rows", "0")
    with opened(store, "e4") as experiment:
        experiment.log(logged(experiment), 0, rows(0, 6))
    assert [step for step, *_ in history(store, run)] == [0, 1, 2, 3, 4, 5]


def test_non_finite_values_are_logged(store: Path) -> None:
    bad = {
        "step": 0,
        "wall": 0.0,
        "metrics": {"loss/policy": math.nan, "policy/ratio_max": math.inf},
    }
    with opened(store, "e5") as experiment:
        run = logged(experiment)
        experiment.log(run, 0, [bad])
    assert math.isnan(history(store, run, "loss/policy")[0][2])
    assert history(store, run, "policy/ratio_max")[0][2] > 1e300


def test_a_long_run_is_logged_in_several_batches(store: Path) -> None:
    with opened(store, "e6") as experiment:
        run = logged(experiment)
        started = time.monotonic()
        experiment.log(run, 0, rows(0, 1100))
        assert time.monotonic() - started < 10
    assert len(history(store, run)) == 1100


@given(st.lists(st.integers(0, 400), max_size=30))
def test_batches_keep_rows_whole_and_in_order(sizes: list[int]) -> None:
    rows = [{"metrics": dict.fromkeys(map(str, range(size)), 0.0)} for size in sizes]
    batches = list(sink._batches(rows))
    assert [row for batch in batches for row in batch] == rows
    assert all(batches)
    for batch in batches:
        assert sum(len(row["metrics"]) for row in batch) <= sink.METRICS_A_BATCH


def test_a_name_that_mlflow_does_not_take_is_written_in_words(store: Path) -> None:
    """MLflow refuses `@` in names of metrics, and with it the whole batch."""
    with opened(store, "at") as experiment:
        run = logged(experiment)
        values = {"eval/test/pass@4": 0.5, "eval/acc": 0.25}
        experiment.log(run, 0, [{"step": 0, "wall": 0.0, "metrics": values}])
    shown = MlflowClient(uri(store)).get_run(run.id).data.metrics
    assert shown == {"eval/test/pass_at_4": 0.5, "eval/acc": 0.25}
    assert Column("metrics", "eval/test/pass@4", 130).key == "metrics.`eval/test/pass_at_4`"
    assert Column("tags", "a@b", 130).key == "tags.`a@b`"
