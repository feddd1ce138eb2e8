"""A small study in a home of its own, for tests of the runner. Its trials are fault entries."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoresearch.execute.observer import Observer
from autoresearch.execute.projector import Projector
from autoresearch.execute.runner import run_trials
from autoresearch.execute.stop import stop_requests
from autoresearch.study import plan
from autoresearch.study.budget import Budget
from autoresearch.study.facts import TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.trial import TrialSpec
from support.plans import trial_spec
from swarm.cluster.cluster import Cluster
from swarm.config.train import TrainConfig

STUDY = "s1"


def specs(*seeds: int, steps: int = 6) -> list[TrialSpec]:
    return [
        trial_spec(seed, study=STUDY, config=TrainConfig(seed=seed, steps=steps)) for seed in seeds
    ]


class Notebook(Observer):
    """An observer that remembers, and calls `on_progress` after each row."""

    def __init__(self) -> None:
        self.on_progress: Callable[[], None] = lambda: None
        self.statuses: list[tuple[str, ...]] = []
        self.steps: dict[str, list[int]] = {}
        self.values: dict[str, dict[str, float]] = {}
        self.notes: list[str] = []

    def trials(self, facts: Sequence[TrialFacts]) -> None:
        self.statuses.append(tuple(trial.status for trial in facts))

    def progress(self, trial_id: str, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        self.steps.setdefault(trial_id, []).append(step)
        self.values.setdefault(trial_id, {}).update(metrics)
        self.on_progress()

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass
class Turn:
    """One process's turn at the study."""

    home: Home
    ledger: Ledger
    cluster: Cluster
    limits: plan.Budget = field(
        default_factory=lambda: plan.Budget(seconds=300, trial_seconds=60, retries=1)
    )
    notebook: Notebook = field(default_factory=Notebook)
    clock: Callable[[], float] = time.monotonic

    def run(self, trials: Sequence[TrialSpec], projector: Projector | None = None) -> None:
        with stop_requests(self.home.pause_flag(STUDY)) as stop:
            run_trials(
                self.ledger,
                STUDY,
                trials,
                cluster=self.cluster,
                budget=Budget(self.ledger, STUDY, self.limits, self.clock),
                observer=self.notebook,
                projector=projector or Projector(self.home, STUDY, "not shown"),
                stop=stop,
            )

    def trials(self) -> dict[int, TrialFacts]:
        """The study's trials by seed."""
        return {trial.spec.seed: trial for trial in self.ledger.facts(STUDY).trials}

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [e["detail"] for e in self.ledger.facts(STUDY).events if e["kind"] == kind]


@contextmanager
def holding(root: Path, cluster: Cluster) -> Iterator[Turn]:
    """Hold the study in the home `root`, creating it if there is none."""
    home = Home(root)
    ledger = Ledger.open(home)
    with ledger.hold(STUDY):
        ledger.create_study(STUDY, "a topic", {})
        yield Turn(home, ledger, cluster)
    ledger.close()
