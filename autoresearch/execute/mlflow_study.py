"""A study as MLflow shows it: an experiment, a parent run, a child run per trial attempt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swarm.sinks.mlflow import LoggedRun, MlflowExperiment, Status


class MlflowStudy:
    """One study in one MLflow store. A context manager; use it from one thread.

    All is written again from run folders when it is lost. Any call may be repeated, and may raise
    what MLflow or its database raises.
    """

    def __init__(self, uri: str, study: str, topic: str, log: Path) -> None:
        """`uri` is a tracking URI; what MLflow logs goes to the file `log`."""
        self._study = study
        self._runs: dict[tuple[str, int], LoggedRun] = {}
        self._experiment = MlflowExperiment(uri, study, log, rows_tag="autoresearch.rows")
        self._client = self._experiment.client
        try:
            self._parent = self._find_parent(topic)
        except BaseException:
            self._experiment.__exit__()
            raise

    def __enter__(self) -> "MlflowStudy":
        return self

    def __exit__(self, *exc: object) -> None:
        self._experiment.__exit__(*exc)

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
        self._runs[trial, number] = self._experiment.run(
            {"autoresearch.trial": trial, "autoresearch.attempt": str(number)},
            name=name,
            started_at=started_at,
            tags={
                "autoresearch.study": self._study,
                "autoresearch.kind": "attempt",
                "mlflow.parentRunId": self._parent,
                **tags,
            },
            config=config,
        )

    def log(self, trial: str, number: int, first: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Log rows of the attempt's metrics.jsonl, of which `rows[0]` is number `first` from 0."""
        self._experiment.log(self._runs[trial, number], first, rows)

    def end(self, trial: str, number: int, status: Status, *, cause: str, ended_at: float) -> None:
        """Close the attempt's run under the MLflow status nearest to `status`."""
        run = self._runs[trial, number]
        self._client.set_tag(run.id, "autoresearch.status", status)
        if cause:
            self._client.set_tag(run.id, "autoresearch.cause", cause)
        self._experiment.end(run, status, ended_at)

    def end_study(self, status: str) -> None:
        """Close the parent run: FINISHED when `status` is "done"."""
        self._client.set_tag(self._parent, "autoresearch.status", status)
        self._client.set_terminated(self._parent, "FINISHED" if status == "done" else "KILLED")

    def _find_parent(self, topic: str) -> str:
        own = {"autoresearch.study": self._study, "autoresearch.kind": "study"}
        found = self._experiment.find(own)
        if found is None:
            found = self._client.create_run(
                self._experiment.id,
                run_name=self._study,
                tags={**own, "autoresearch.topic": topic, "mlflow.note.content": topic},
            )
        else:
            self._client.update_run(found.info.run_id, status="RUNNING")
        return str(found.info.run_id)
