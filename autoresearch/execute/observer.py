"""Who watches a study run: the screen, a log, or nobody."""

from collections.abc import Mapping, Sequence
from typing import Any

from autoresearch.study.facts import TrialFacts
from autoresearch.study.plan import Plan


class Observer:
    """Told what happens, on the driver's main thread; must return at once. This one ignores it."""

    def stage(self, stage: str) -> None:
        """The study entered a stage."""

    def plan(self, plan: Plan) -> None:
        """The plan was written or frozen."""

    def trials(self, facts: Sequence[TrialFacts]) -> None:
        """The trials of the wave that runs now; called whenever a status changed."""

    def progress(self, trial_id: str, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """A running trial wrote a row: its step of `steps`, and that row's metrics."""

    def note(self, text: str) -> None:
        """One line worth showing: a retry, an alarm, a fallback."""

    def finished(self, summary: Mapping[str, Any]) -> None:
        """The study ended; `summary` is what `start --json` prints."""
