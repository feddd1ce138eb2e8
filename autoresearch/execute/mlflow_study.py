"""A study as MLflow shows it: an experiment, a parent run, a child run per trial attempt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autoresearch.execute.mlflow_text import as_description
from autoresearch.study.facts import AttemptFacts
from autoresearch.study.home import Home
from autoresearch.study.trial import TrialSpec
from swarm.sinks.mlflow import LoggedRun, MlflowExperiment
from swarm.sinks.mlflow_page import Column, view_tags

#: What a run says of its trial, as tags.
SHOWN = ("phase", "arm", "task", "seed", "round")


class MlflowStudy:
    """One study in one MLflow store. A context manager; use it from one thread.

    What is lost can be written again from run folders, so any call may be repeated. Each may raise
    what MLflow or its database raises.
    """

    def __init__(self, home: Home, study: str, topic: str, metrics: Sequence[str] = ()) -> None:
        """MLflow shows `metrics` beside the arm, seed and phase; it logs to the study's log."""
        self._study = study
        self._runs: dict[tuple[str, int], LoggedRun] = {}
        self._experiment = experiment(home.mlflow_uri, study, home.log(study), metrics)
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

    def show(
        self, spec: TrialSpec, attempt: AttemptFacts, first: int, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Show rows of the attempt's metrics.jsonl, of which `rows[0]` is number `first` from 0.

        They go to a child run, which is made if there is none; its params are the flat config. Once
        the attempt has ended, its run is closed under the MLflow status nearest to its own.
        """
        key = (spec.id, attempt.number)
        if key not in self._runs:
            again = f" #{attempt.number}" if attempt.number > 1 else ""
            self._runs[key] = self._experiment.run(
                {"autoresearch.trial": spec.id, "autoresearch.attempt": str(attempt.number)},
                name=f"{spec.arm} {spec.task} seed {spec.seed}{again}",
                started_at=attempt.started_at,
                tags={
                    "autoresearch.study": self._study,
                    "autoresearch.kind": "attempt",
                    "mlflow.parentRunId": self._parent,
                    **{f"autoresearch.{name}": str(getattr(spec, name)) for name in SHOWN},
                    **({"autoresearch.label": spec.label} if spec.label else {}),
                },
                config=spec.config.model_dump(mode="json"),
            )
        run = self._runs[key]
        self._experiment.log(run, first, rows)
        if attempt.status != "running":
            self._client.set_tag(run.id, "autoresearch.status", attempt.status)
            if attempt.cause:
                self._client.set_tag(run.id, "autoresearch.cause", attempt.cause)
            self._experiment.end(run, attempt.status, attempt.started_at + attempt.seconds)

    def ended(self) -> set[tuple[str, int, str]]:
        """Trial, number and status of each attempt that is here to its end."""
        found: set[tuple[str, int, str]] = set()
        for run in self._experiment.runs({"autoresearch.kind": "attempt"}):
            tags = run.data.tags
            if run.info.status != "RUNNING" and "autoresearch.status" in tags:
                attempt = int(tags["autoresearch.attempt"])
                found.add((tags["autoresearch.trial"], attempt, tags["autoresearch.status"]))
        return found

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
