"""Training runs in MLflow: their configs as params, their rows of metrics, how they ended. A
projection of run folders: whatever is written here can be written again from them. Calls may be
repeated; a row that MLflow has is not logged twice."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from filelock import FileLock

from swarm.config.paths import leaves
from swarm.disk.logfile import routed_to
from swarm.sinks.mlflow_page import TRAINING_KIND, metric_name

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


@dataclass
class LoggedRun:
    """A run in MLflow: its id, its start in ms, and how many rows of metrics.jsonl it has."""

    id: str
    started: int
    rows: int


class MlflowExperiment:
    """One experiment in one MLflow store, made when it is missing. A context manager; use it from
    one thread. Opening imports MLflow and creates the store when it is missing: 2 to 5 s. Any call
    may raise what MLflow or its database raises."""

    def __init__(
        self,
        uri: str,
        name: str,
        log: Path,
        rows_tag: str = "swarm.rows",
        tags: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`uri` is a tracking URI; what MLflow logs goes to the file `log`. A run counts its rows
        in the tag `rows_tag`. The experiment gets `tags`, whether it is new or not."""
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
        os.environ["DO_NOT_TRACK"] = "true"
        from mlflow.tracking import MlflowClient

        self._rows_tag = rows_tag
        with ExitStack() as leave:
            leave.enter_context(routed_to(log, "mlflow", "alembic", "sqlalchemy"))
            with _alone(uri):
                self.client = MlflowClient(tracking_uri=uri)
                self.id = self._find(name, log.parent / "mlflow", {**TRAINING_KIND, **tags})
            self._leave = leave.pop_all()

    def __enter__(self) -> "MlflowExperiment":
        return self

    def __exit__(self, *exc: object) -> None:
        self._leave.close()

    def run(
        self,
        own: Mapping[str, str],
        *,
        name: str,
        started_at: float,
        tags: Mapping[str, str],
        config: Mapping[str, Any],
    ) -> LoggedRun:
        """The run whose tags hold `own`, made if there is none; its params are the flat config."""
        found = self.find(own)
        if found is None:
            found = self.client.create_run(
                self.id,
                start_time=_ms(started_at),
                run_name=name,
                tags={**tags, **own, self._rows_tag: "0"},
            )
            self._log_params(found.info.run_id, config)
        rows = int(found.data.tags[self._rows_tag])
        return LoggedRun(found.info.run_id, found.info.start_time, rows)

    def log(self, run: LoggedRun, first: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Log rows of metrics.jsonl, of which `rows[0]` is number `first` from 0. Rows that the run
        has are skipped. A row's time is the run's start plus its `wall`, so that a row logged again
        after a crash is the same to MLflow, which keeps one."""
        from mlflow.entities import Metric, RunTag

        for batch in _batches(rows[max(0, run.rows - first) :]):
            metrics = [
                Metric(
                    metric_name(name), value, run.started + round(1000 * row["wall"]), row["step"]
                )
                for row in batch
                for name, value in row["metrics"].items()
            ]
            done = max(run.rows, first) + len(batch)
            tags = [RunTag(self._rows_tag, str(done))]
            self.client.log_batch(run.id, metrics=metrics, tags=tags)
            run.rows = done

    def end(self, run: LoggedRun, status: Status, ended_at: float) -> None:
        """Close a run under the MLflow status nearest to `status`."""
        self.client.set_terminated(run.id, MLFLOW_STATUS[status], end_time=_ms(ended_at))

    def find(self, tags: Mapping[str, str]) -> Any | None:
        """MLflow's run with these tags, or None."""
        return next(iter(self.client.search_runs([self.id], _query(tags), max_results=1)), None)

    def runs(self, tags: Mapping[str, str]) -> Iterator[Any]:
        """Every run with these tags."""
        page = None
        while True:
            found = self.client.search_runs([self.id], _query(tags), page_token=page)
            yield from found
            page = found.token
            if not page:
                return

    def _find(self, name: str, artifacts: Path, tags: Mapping[str, str]) -> str:
        found = self.client.get_experiment_by_name(name)
        if found is None:
            # A location of its own: MLflow's default is ./mlruns of whoever asks first.
            location = artifacts.resolve().as_uri()
            return str(self.client.create_experiment(name, location, tags=dict(tags)))
        for tag, value in tags.items():
            if found.tags.get(tag) != value:
                self.client.set_experiment_tag(found.experiment_id, tag, value)
        return str(found.experiment_id)

    def _log_params(self, run: str, config: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        params = [Param(name, str(value)[:PARAM_LENGTH]) for name, value in leaves(config)]
        for start in range(0, len(params), PARAMS_A_BATCH):
            self.client.log_batch(run, params=params[start : start + PARAMS_A_BATCH])


def _query(tags: Mapping[str, str]) -> str:
    return " AND ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())


@contextmanager
def _alone(uri: str) -> Iterator[None]:
    """Of several processes that open a SQLite store at once, one makes its tables and the others
    wait: MLflow's migrations do not bear each other."""
    scheme, _, file = uri.partition(":///")
    if scheme != "sqlite":
        yield
        return
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        yield


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
