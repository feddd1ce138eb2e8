"""A study as MLflow shows it: an experiment, a parent run, a child run per trial attempt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autoresearch.execute.mlflow_text import as_description
from swarm.sinks.mlflow import LoggedRun, MlflowExperiment, Status
from swarm.sinks.mlflow_page import Column, view_tags


class MlflowStudy:
    """One study in one MLflow store. A context manager; use it from one thread.

    What is lost can be written again from run folders, so any call may be repeated. Each may raise
    what MLflow or its database raises.
    """

    def __init__(
        self, uri: str, study: str, topic: str, log: Path, metrics: Sequence[str] = ()
    ) -> None:
        """`uri` is a tracking URI; what MLflow logs goes to the file `log`. MLflow shows `metrics`
        beside the arm, seed and phase of each attempt."""
        self._study = study
        self._runs: dict[tuple[str, int], LoggedRun] = {}
        self._experiment = experiment(uri, study, log, metrics)
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
        """Make a child run for this attempt if there is none; its params are the flat config."""
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

    def end_study(self, status: str, verdicts: Mapping[str, str], folder: Path) -> None:
        """Close the parent run: FINISHED when `status` is "done".

        A study that is done carries the verdict of each hypothesis as a tag, and the report in
        `folder` as its description.
        """
        tags = {"autoresearch.status": status}
        if status == "done":
            tags |= {f"autoresearch.verdict.{name}": verdict for name, verdict in verdicts.items()}
            if (report := folder / "report.md").exists():
                tags["mlflow.note.content"] = as_description(report)
        for name, value in tags.items():
            self._client.set_tag(self._parent, name, value)
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


def experiment(uri: str, study: str, log: Path, metrics: Sequence[str]) -> MlflowExperiment:
    """The study's experiment, which MLflow shows as training runs with their arm, seed and phase
    and with `metrics`."""
    columns = (
        Column("tags", "autoresearch.arm", 260),
        Column("tags", "autoresearch.seed", 140),
        Column("tags", "autoresearch.phase", 150),
        *(Column("metrics", metric, 130) for metric in metrics or ("eval/acc",)),
    )
    return MlflowExperiment(uri, study, log, rows_tag="autoresearch.rows", tags=view_tags(columns))
