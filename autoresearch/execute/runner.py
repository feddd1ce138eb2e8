"""Runs a wave of trials to their end.

A driver may die at any point and `run_trials` be called again. A trial is in the ledger before it
is submitted, an attempt before its process exists. What a dead driver left open is settled first.
Trials that have ended are never run again.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from autoresearch.execute.following import Following, last_values
from autoresearch.execute.observer import Observer
from autoresearch.execute.projector import Projector
from autoresearch.execute.stop import StopRequests
from autoresearch.study.budget import Budget
from autoresearch.study.endings import BudgetExhausted, Paused, TaskFailed
from autoresearch.study.facts import AttemptFacts, TrialFacts, TrialStatus
from autoresearch.study.ledger import Ledger
from autoresearch.study.trial import TrialSpec
from swarm.cluster.actor import Outcome
from swarm.cluster.cluster import Cluster
from swarm.disk.folder import CHECKPOINTS, MANIFEST, METRICS, manifest_digest, read_result

POLL = 0.25  # seconds

EndStatus = Literal["finished", "diverged", "failed", "lost"]


def run_trials(
    ledger: Ledger,
    study: str,
    specs: Sequence[TrialSpec],
    *,
    cluster: Cluster,
    budget: Budget,
    observer: Observer,
    projector: Projector,
    stop: StopRequests,
) -> None:
    """Run `specs` side by side, in their order; on return each has an ended trial.

    An attempt that fails, dies or outlasts `budget.limits.trial_seconds` is followed by another,
    from its last checkpoint, until `budget.limits.retries` are used up; then its trial has
    failed, and the others go on. An attempt that fails in the user's task or reward is not retried.

    Raises BudgetExhausted or Paused (a request of `stop`) after ending what runs;
    such attempts go on from their checkpoints when the study is resumed, at no cost to the
    retries. Raises TaskFailed, after ending what runs in the same way, when the user's task or
    reward failed; Leased when another process took the study over; and InfrastructureError.
    """
    ledger.insert_trials(specs)
    known = {trial.spec.id: trial for trial in ledger.facts(study).trials}
    trials = {spec.id: known[spec.id] for spec in specs}
    wave = _Wave(ledger, study, cluster, budget, observer, projector, trials)
    wave.settle()
    try:
        while wave.unfinished:
            stop.check()
            budget.check()
            wave.submit()
            for job, outcome in cluster.poll(POLL):
                wave.end(job, outcome)
            wave.follow()
            if wave.defect:
                raise TaskFailed(wave.defect)
    except (Paused, BudgetExhausted, TaskFailed) as reason:
        wave.cancel(str(reason))
        raise


@dataclass
class _Wave:
    """The trials of one call by id, which of them wait, and what runs by the name of its job."""

    ledger: Ledger
    study: str
    cluster: Cluster
    budget: Budget
    observer: Observer
    projector: Projector
    trials: dict[str, TrialFacts]
    waiting: deque[str] = field(default_factory=deque)
    running: dict[str, Following] = field(default_factory=dict)
    unseen: bool = False  # MLflow did not show what happens, at least for a while
    defect: str = ""  # of the user's task or reward

    @property
    def unfinished(self) -> bool:
        return bool(self.waiting or self.running)

    def settle(self) -> None:
        """Find out what became of the attempts that an earlier driver left running."""
        for trial in tuple(self.trials.values()):
            if trial.status == "pending":
                self.waiting.append(trial.spec.id)
            elif trial.status == "running":
                self._settle_attempt(Following(trial.spec, trial.attempts[-1]))
        self._show()

    def submit(self) -> None:
        """Start waiting trials while a core is free."""
        if not self.waiting:
            return
        device = self.trials[self.waiting[0]].spec.config.device
        for _ in range(min(self.cluster.capacity(device) - len(self.running), len(self.waiting))):
            trial = self.trials[self.waiting.popleft()]
            spec = trial.spec
            attempt = self.ledger.start_attempt(self.study, spec.id)
            following = Following(spec, attempt)
            self.cluster.submit(
                following.job,
                spec.config.model_dump(mode="json"),
                attempt.folder,
                _where_to_resume(trial.attempts),
            )
            self.running[following.job] = following
            self.trials[spec.id] = replace(
                trial, status="running", attempts=(*trial.attempts, attempt)
            )
            self._show()

    def follow(self) -> None:
        """Read what the running attempts wrote, and end those that take too long."""
        limit = self.budget.limits.trial_seconds
        for following in tuple(self.running.values()):
            self._read(following)
            if following.seconds() > limit:
                self._cancel(following, "failed", f"timed out after {limit:.0f} s", charged=True)
        problem = self.projector.problem
        if problem and not self.unseen:
            self.unseen = True
            if self.ledger.add_event(self.study, "mlflow-failed", once="mlflow", cause=problem):
                self.observer.note(f"MLflow is not written for now: {problem}")

    def end(self, job: str, outcome: Outcome) -> None:
        """Take note of an attempt whose process has ended."""
        following = self.running.pop(job)
        status, cause = outcome.status, outcome.cause
        if status in ("finished", "diverged") and not manifest_digest(following.attempt.folder):
            status, cause = "failed", "its folder is not here: workers must share this file system"
        if outcome.final:
            self.defect = self.defect or cause
        self._end(following, status, cause, final=outcome.final)

    def cancel(self, reason: str) -> None:
        """End all that runs; keep what has just finished by itself."""
        for job, outcome in self.cluster.poll(0):
            self.end(job, outcome)
        for following in tuple(self.running.values()):
            self._cancel(following, "lost", reason, charged=False)

    def _settle_attempt(self, following: Following) -> None:
        spec, attempt = following.spec, following.attempt
        result = read_result(attempt.folder)
        if result is not None and manifest_digest(attempt.folder) is not None:
            self.cluster.cancel(following.job)  # a detached actor would keep its core
            self._end(following, result.status, result.cause, at=_last_write(attempt))
        elif self.cluster.adopt(following.job):
            self.running[following.job] = following
            self.ledger.add_event(self.study, "adopted", trial=spec.id, attempt=attempt.number)
        else:
            at = _last_write(attempt)
            self._end(following, "lost", "its driver ended", charged=False, at=at)

    def _cancel(self, following: Following, status: EndStatus, why: str, *, charged: bool) -> None:
        self.cluster.cancel(following.job)
        del self.running[following.job]
        self._end(following, status, why, charged=charged)

    def _end(
        self,
        following: Following,
        status: EndStatus,
        cause: str,
        *,
        charged: bool = True,
        final: bool = False,
        at: float | None = None,
    ) -> None:
        """Store how an attempt ended, now or `at`; its trial has ended too or, unless that was
        `final`, waits again."""
        self._read(following, ended=True)
        trial = self.trials[following.spec.id]
        attempt = replace(
            following.attempt,
            status=status,
            cause=cause,
            charged=charged,
            manifest=manifest_digest(following.attempt.folder),
            seconds=(at or time.time()) - following.attempt.started_at,
            summary=last_values(following.rows),
        )
        attempts = (*trial.attempts[:-1], attempt)
        left = "failed" if final else self._left(attempts)
        self.ledger.end_attempt(self.study, trial.spec.id, attempt, left)
        self.trials[trial.spec.id] = replace(trial, status=left, attempts=attempts)
        if left == "pending":
            self.waiting.appendleft(trial.spec.id)
        self.projector.show(trial.spec, attempt)
        self._note_inexact(trial.spec, attempt)
        if attempt.charged and status in ("failed", "lost"):
            self._report_failure(trial.spec, attempt, retried=left == "pending")
        self._show()

    def _left(self, attempts: Sequence[AttemptFacts]) -> TrialStatus:
        """The status of a trial after its attempts."""
        status = attempts[-1].status
        if status == "finished" or status == "diverged":
            return status
        failures = sum(a.charged and a.status in ("failed", "lost") for a in attempts)
        return "failed" if failures > self.budget.limits.retries else "pending"

    def _report_failure(self, spec: TrialSpec, attempt: AttemptFacts, *, retried: bool) -> None:
        self.ledger.add_event(
            self.study,
            "attempt-failed",
            trial=spec.id,
            attempt=attempt.number,
            arm=spec.arm,
            seed=spec.seed,
            status=attempt.status,
            cause=attempt.cause,
            retried=retried,
        )
        then = "trying again from its last checkpoint" if retried else "given up"
        self.observer.note(f"{spec.arm} seed {spec.seed}: {attempt.cause}; {then}")

    def _note_inexact(self, spec: TrialSpec, attempt: AttemptFacts) -> None:
        result = read_result(attempt.folder) if attempt.manifest else None
        if result is None or result.exact:
            return
        text = f"{spec.arm} seed {spec.seed} was resumed under another fingerprint (exact: false)"
        if self.ledger.add_event(self.study, "deviation", once=spec.id, text=text):
            self.observer.note(text)

    def _read(self, following: Following, *, ended: bool = False) -> None:
        """Pass on the rows that an attempt wrote since the last look, and what is wrong in them."""
        spec, first = following.spec, len(following.rows)
        rows = following.read()
        if rows:
            step, newest = rows[-1]["step"], last_values(rows)
            self.observer.progress(spec.id, step, spec.config.steps, newest)
            self.projector.show(spec, following.attempt, first, rows)
        for alarm in following.alarms.new(following.rows, ended=ended):
            added = self.ledger.add_event(
                self.study,
                "alarm",
                once=f"{spec.id}/{alarm.kind}",
                trial=spec.id,
                arm=spec.arm,
                seed=spec.seed,
                alarm=alarm.kind,
                step=alarm.step,
                value=alarm.value,
                cause=alarm.cause,
            )
            if added:
                self.observer.note(f"{spec.arm} seed {spec.seed}: {alarm.kind} ({alarm.cause})")

    def _show(self) -> None:
        self.observer.trials(tuple(self.trials.values()))


def _where_to_resume(attempts: Sequence[AttemptFacts]) -> Path | None:
    """The folder of the newest attempt with a checkpoint, else of the newest that started."""
    folders = [attempt.folder for attempt in reversed(attempts) if attempt.folder.is_dir()]
    saved = (folder for folder in folders if any((folder / CHECKPOINTS).glob("*")))
    return next(saved, folders[0] if folders else None)


def _last_write(attempt: AttemptFacts) -> float:
    """When an attempt last wrote, in unix seconds; its start if it never did."""
    files = (attempt.folder / name for name in (MANIFEST, METRICS))
    return max([attempt.started_at, *(file.stat().st_mtime for file in files if file.exists())])
