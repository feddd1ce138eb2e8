"""A study as MLflow shows it: an experiment, a parent run, a child run per trial attempt.

A projection of run folders: whatever is written here can be written again from them. Calls may
be repeated; a row that MLflow has is not logged twice.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swarm.logfile import routed_to

Status = Literal["finished", "diverged", "failed", "lost"]

MLFLOW_STATUS: Mapping[str, str] = {
    "finished": "FINISHED",
    "diverged": "FAILED",
    "failed": "FAILED",
    "lost": "KILLED",
}
METRICS_A_BATCH = 1000  # the most that MLflow takes in one call
PARAMS_A_BATCH = 100
PARAM_LENGTH = 6000
ROWS = "autoresearch.rows"  # how many rows of metrics.jsonl the run has


@dataclass
class _Run:
    """A child run: its id, its start in ms, and how many rows of its attempt it has."""

    id: str
    started: int
    rows: int


class MlflowProjection:
    """One study in one MLflow store. A context manager; use it from one thread.

    Opening imports MLflow and creates the store when it is missing: 2 to 5 s. Any call may
    raise what MLflow or its database raises.
    """

    def __init__(self, uri: str, study: str, topic: str, log: Path) -> None:
        """`uri` is a tracking URI; what MLflow logs goes to the file `log`."""
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
        os.environ["DO_NOT_TRACK"] = "true"
        from mlflow.tracking import MlflowClient

        self._study = study
        self._runs: dict[tuple[str, int], _Run] = {}
        with ExitStack() as leave:
            leave.enter_context(routed_to(log, "mlflow", "alembic", "sqlalchemy"))
            self._client = MlflowClient(tracking_uri=uri)
            self._experiment = self._find_experiment(log.parent / "mlflow")
            self._parent = self._find_parent(topic)
            self._leave = leave.pop_all()

    def __enter__(self) -> "MlflowProjection":
        return self

    def __exit__(self, *exc: object) -> None:
        self._leave.close()

    def attempt(
        self,
        trial: str,
        number: int,
        *,
        name: str,
        started_at: float,
        tags: Mapping[str, str],
        config: Mapping[str, Any],
    ) -> None:
        """Have a child run for this attempt, with its config flattened into params."""
        if (trial, number) in self._runs:
            return
        found = self._find_run({"autoresearch.trial": trial, "autoresearch.attempt": str(number)})
        if found is None:
            own = {"autoresearch.trial": trial, "autoresearch.attempt": str(number), ROWS: "0"}
            found = self._create_run(
                name, started_at, {**tags, **own, "mlflow.parentRunId": self._parent}
            )
            self._log_params(found.info.run_id, config)
        rows = int(found.data.tags[ROWS])
        self._runs[trial, number] = _Run(found.info.run_id, found.info.start_time, rows)

    def log(self, trial: str, number: int, first: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Log rows of the attempt's metrics.jsonl, of which `rows[0]` is number `first` from 0.

        Rows that the run has are skipped. A row's time is the run's start plus its `wall`, so
        that a row logged again after a crash is the same to MLflow, which keeps one.
        """
        from mlflow.entities import Metric, RunTag

        run = self._runs[trial, number]
        for batch in _batches(rows[max(0, run.rows - first) :]):
            metrics = [
                Metric(name, value, run.started + round(1000 * row["wall"]), row["step"])
                for row in batch
                for name, value in row["metrics"].items()
            ]
            done = max(run.rows, first) + len(batch)
            self._client.log_batch(run.id, metrics=metrics, tags=[RunTag(ROWS, str(done))])
            run.rows = done

    def end(self, trial: str, number: int, status: Status, *, cause: str, ended_at: float) -> None:
        """Close the attempt's run under the MLflow status nearest to `status`."""
        run = self._runs[trial, number]
        self._client.set_tag(run.id, "autoresearch.status", status)
        if cause:
            self._client.set_tag(run.id, "autoresearch.cause", cause)
        self._client.set_terminated(run.id, MLFLOW_STATUS[status], end_time=_ms(ended_at))

    def end_study(self, status: str) -> None:
        """Close the parent run: FINISHED when `status` is "done"."""
        self._client.set_tag(self._parent, "autoresearch.status", status)
        self._client.set_terminated(self._parent, "FINISHED" if status == "done" else "KILLED")

    def _find_experiment(self, artifacts: Path) -> str:
        found = self._client.get_experiment_by_name(self._study)
        if found is not None:
            return str(found.experiment_id)
        # A location of its own: MLflow's default is ./mlruns of whoever asks first.
        return str(self._client.create_experiment(self._study, artifacts.resolve().as_uri()))

    def _find_parent(self, topic: str) -> str:
        own = {"autoresearch.study": self._study, "autoresearch.kind": "study"}
        found = self._find_run(own)
        if found is None:
            found = self._client.create_run(
                self._experiment,
                run_name=self._study,
                tags={**own, "autoresearch.topic": topic, "mlflow.note.content": topic},
            )
        else:
            self._client.update_run(found.info.run_id, status="RUNNING")
        return str(found.info.run_id)

    def _find_run(self, tags: Mapping[str, str]) -> Any | None:
        query = " AND ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
        return next(iter(self._client.search_runs([self._experiment], query, max_results=1)), None)

    def _create_run(self, name: str, started_at: float, tags: Mapping[str, str]) -> Any:
        return self._client.create_run(
            self._experiment,
            start_time=_ms(started_at),
            run_name=name,
            tags={"autoresearch.study": self._study, "autoresearch.kind": "attempt", **tags},
        )

    def _log_params(self, run: str, config: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        params = [Param(name, str(value)[:PARAM_LENGTH]) for name, value in flatten(config)]
        for start in range(0, len(params), PARAMS_A_BATCH):
            self._client.log_batch(run, params=params[start : start + PARAMS_A_BATCH])


def flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a tree of mappings, each under its dotted path."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Whole rows, with at most `METRICS_A_BATCH` metrics together."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        if batch and size + len(row["metrics"]) > METRICS_A_BATCH:
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row["metrics"])
    if batch:
        yield batch


def _ms(seconds: float) -> int:
    return round(1000 * seconds)
