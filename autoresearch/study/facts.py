"""What is known of a study: the read-only view that analysis, reports and the screen use.

The ledger builds it; nothing here touches a database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autoresearch.study.plan import Plan
from autoresearch.study.trial import TrialSpec

TrialStatus = Literal["pending", "running", "finished", "diverged", "failed"]
ENDED: frozenset[TrialStatus] = frozenset({"finished", "diverged", "failed"})

Stage = Literal["freeze", "pilot", "size", "tune", "confirm", "look", "report", "verify", "done"]

#: The present name of a stage that an earlier version wrote under another.
STAGE_NOW: Mapping[str, Stage] = {
    **dict.fromkeys(("scope", "recall", "hypothesise", "design", "lint"), "freeze"),
    **dict.fromkeys(("analyse", "decide"), "look"),
}


@dataclass(frozen=True)
class AttemptFacts:
    """One try at a trial. `manifest` is the sha256 of its sealed manifest, once sealed.

    `started_at` is Unix time; the attempt held its cores for `seconds` from then on.
    `charged` attempts count against the plan's retries; one whose driver died or was paused does
    not. `summary` has each metric's last value.
    """

    number: int
    folder: Path
    status: Literal["running", "finished", "diverged", "failed", "lost"]
    cause: str = ""
    manifest: str | None = None
    seconds: float = 0.0
    started_at: float = 0.0
    charged: bool = True
    summary: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialFacts:
    """A trial and its attempts, oldest first. The last attempt is the one that counts."""

    spec: TrialSpec
    status: TrialStatus
    attempts: tuple[AttemptFacts, ...] = ()

    @property
    def folder(self) -> Path | None:
        """The folder of the attempt that counts, once the trial has ended."""
        return self.attempts[-1].folder if self.attempts and self.status in ENDED else None

    @property
    def cause(self) -> str:
        return self.attempts[-1].cause if self.attempts else ""


@dataclass(frozen=True)
class StudyFacts:
    """A study as the ledger holds it.

    `records` are the derived records (outcomes of registered rules), by kind:
    `size`    {"n": int, "looks": [int], "sd": float | None, "detectable": float | None}
    `tuning`  {"path": str, "value": float, "candidates": [{"label", "value", "score"}]}
    `look-K`  {"n": int, "stop": bool, "reason": str}
    `fingerprint` {"python": str, "torch": str, "cpu": str, "threads": int, "model": str, ...}
    `start`   {"command": str}: the command line that started the study
    `full`    {"command": str, "trials": int, "seconds": float}: the `full` profile's plan of this
              topic, wall-clock on this machine; written where the profile is `smoke` or `quick`
    """

    study: str
    topic: str
    stage: Stage
    status: Literal["running", "paused", "stopped", "failed", "done"]
    created_at: float
    cause: str = ""
    plan: Plan | None = None
    registration: str | None = None
    registered_at: float | None = None
    records: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trials: tuple[TrialFacts, ...] = ()
    events: tuple[Mapping[str, Any], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all of it, as far as it noted, ran under one fingerprint."""
        texts = (str(e["detail"].get("text", "")) for e in self.events)
        return not any("exact: false" in text for text in texts)

    def of_phase(self, phase: str) -> tuple[TrialFacts, ...]:
        return tuple(t for t in self.trials if t.spec.phase == phase)


def busy_seconds(trials: Sequence[TrialFacts], since: float) -> float:
    """Wall seconds after `since` (Unix time) during which at least one attempt ran."""
    spans = sorted(
        (max(a.started_at, since), a.started_at + a.seconds) for t in trials for a in t.attempts
    )
    busy, reached = 0.0, since
    for begin, end in spans:
        busy += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return busy
