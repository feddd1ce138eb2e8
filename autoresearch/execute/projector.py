"""Shows a study in MLflow while it runs.

MLflow takes seconds to import and to create its store, and a slow disk must not hold up trials.
So one thread of its own writes to MLflow, in batches. An error there is no error of the study: what
was not written is tried again later, from run folders, like all that an earlier driver left out.
What lacks at the end `rebuild` adds.
"""

import queue
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autoresearch.analysis.scores import metrics_of
from autoresearch.execute.mlflow_study import MlflowStudy
from autoresearch.study.facts import AttemptFacts, StudyFacts, TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.trial import TrialSpec
from swarm.disk.folder import METRICS, read_rows

EVERY = 5.0  # seconds between batches, and before the next try after an error
#: Seconds that the last batch may take; MLflow itself tries a dead store for an hour.
PATIENCE = 20.0

Rows = Sequence[Mapping[str, Any]]


class Projector:
    """Hears of attempts on the driver's thread, writes to MLflow on another. A context manager."""

    def __init__(
        self,
        home: Home,
        study: str,
        topic: str,
        metrics: Sequence[str] = (),
        earlier: Sequence[TrialFacts] = (),
    ) -> None:
        """MLflow shows `metrics` beside the arm, seed and phase of each attempt, and what it lacks
        of the `earlier` trials.

        `problem` is the error for which MLflow lacks something now; empty where it lacks nothing.
        """
        self._home = home
        self._study = study
        self._topic = topic
        self._metrics = metrics
        self._status = ""
        self._verdicts: Mapping[str, str] = {}
        self.problem = ""
        self._behind = {
            (trial.spec.id, attempt.number): (trial.spec, attempt)
            for trial in earlier
            for attempt in trial.attempts
        }
        self._heard: queue.SimpleQueue[_Seen | None] = queue.SimpleQueue()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"mlflow-{study}", daemon=True)

    def __enter__(self) -> "Projector":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Show what is left, waiting at most `PATIENCE` seconds."""
        self._leaving.set()
        self._heard.put(None)
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self.problem = f"not done {PATIENCE:.0f} s after the study"

    def show(self, spec: TrialSpec, attempt: AttemptFacts, first: int = 0, rows: Rows = ()) -> None:
        """Show an attempt and rows of its metrics.jsonl, of which `rows[0]` is number `first`."""
        self._heard.put(_Seen(spec, attempt, first, rows))

    def study_ended(self, status: str, verdicts: Mapping[str, str]) -> None:
        """On leaving, show how the study ended, with verdicts by hypothesis and report if done."""
        self._status = status
        self._verdicts = verdicts

    def _work(self) -> None:
        first = self._heard.get()
        if first is None and not self._status:
            return  # MLflow is opened when there is something to show
        news = [first] if first else []
        while True:
            try:
                self._write(news)
                return
            except Exception as error:  # the study goes on without MLflow
                self.problem = f"{type(error).__name__}: {error}".splitlines()[0]
            left = self._leaving.is_set()
            if left and "locked" not in self.problem:  # it will not pass
                return
            # Told again from its folder, an attempt needs no rows in memory.
            self._behind |= {s.key: (s.spec, s.attempt) for s in (*news, *self._drain())}
            news = []
            time.sleep(1.0) if left else self._leaving.wait(EVERY)

    def _write(self, news: "list[_Seen]") -> None:
        """Write what was heard until the study is left. `news` holds what is not written yet."""
        with MlflowStudy(self._home, self._study, self._topic, self._metrics) as mlflow:
            _catch_up(mlflow, self._behind.values())
            self._behind = {}
            while True:
                left = self._leaving.is_set()
                news += self._drain()
                _tell(mlflow, news)
                news.clear()
                self.problem = ""
                if left:
                    break
                self._leaving.wait(EVERY)
            if self._status:
                mlflow.end_study(self._status, self._verdicts, self._home.report(self._study))

    def _drain(self) -> "list[_Seen]":
        waiting = [self._heard.get() for _ in range(self._heard.qsize())]
        return [seen for seen in waiting if seen is not None]


@dataclass(frozen=True)
class _Seen:
    """An attempt as it was seen, and rows that it had written since."""

    spec: TrialSpec
    attempt: AttemptFacts
    first: int
    rows: Rows

    @property
    def key(self) -> tuple[str, int]:
        return self.spec.id, self.attempt.number


def rebuild(facts: StudyFacts, verdicts: Mapping[str, str], home: Home) -> None:
    """Add what MLflow lacks of a study, from run folders, verdicts by hypothesis and the report.

    Raises what MLflow or its database raises.
    """
    metrics = metrics_of(facts.plan) if facts.plan else ()
    with MlflowStudy(home, facts.study, facts.topic, metrics) as mlflow:
        _catch_up(mlflow, ((t.spec, attempt) for t in facts.trials for attempt in t.attempts))
        if facts.status != "running":
            mlflow.end_study(facts.status, verdicts, home.report(facts.study))


def _catch_up(mlflow: MlflowStudy, seen: Iterable[tuple[TrialSpec, AttemptFacts]]) -> None:
    """Write what MLflow lacks of attempts, from their folders."""
    ended = mlflow.ended()
    for spec, attempt in seen:
        if (spec.id, attempt.number, attempt.status) not in ended:
            mlflow.show(spec, attempt, 0, list(read_rows(attempt.folder / METRICS)))


def _tell(mlflow: MlflowStudy, seen: Sequence[_Seen]) -> None:
    """Write news to MLflow in few calls: the rows of an attempt together, then how it ended."""
    together: dict[tuple[str, int], list[_Seen]] = {}
    for item in seen:
        together.setdefault(item.key, []).append(item)
    for items in together.values():
        rows = [row for item in items for row in item.rows]
        mlflow.show(items[-1].spec, items[-1].attempt, items[0].first, rows)
