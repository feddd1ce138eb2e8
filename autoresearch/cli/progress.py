"""What the live view knows of a running study: counts, steps, estimates, remaining time."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from autoresearch.analysis.scores import score
from autoresearch.study.facts import ENDED, TrialFacts
from autoresearch.study.plan import Plan

#: Seconds of planning, registering and reporting that the estimate adds to the trials' own.
CLOSING_SECONDS = 10.0


@dataclass(frozen=True)
class ArmProgress:
    """One arm's bar.

    `steps` holds (step, steps) of its running trials, `starting` counts those without a step yet;
    `mean` and `spread` are over confirmation trials, in the unit of the primary metric.
    """

    arm: str
    ended: int
    total: int
    fraction: float
    failed: int
    steps: tuple[tuple[int, int], ...]
    starting: int
    mean: float | None
    spread: float | None
    n: int


class StudyProgress:
    """Takes what an observer is told; answers what a screen shows."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._trials: dict[str, TrialFacts] = {}
        self._steps: dict[str, tuple[int, int]] = {}
        self._scores: dict[str, float] = {}
        self._side_by_side = 1
        self.plan: Plan | None = None
        self.stage = "freeze"

    def trials(self, facts: Sequence[TrialFacts]) -> list[TrialFacts]:
        """Take the newest facts of some trials; return those whose status changed."""
        changed = [
            t
            for t in facts
            if (old := self._trials.get(t.spec.id)) is None or old.status != t.status
        ]
        for trial in changed:
            self._trials[trial.spec.id] = trial
            if trial.status in ENDED:
                self._steps.pop(trial.spec.id, None)
                value = score(trial, self.plan).value if self.plan else None
                if value is not None:
                    self._scores[trial.spec.id] = value
        running = sum(t.status == "running" for t in self._trials.values())
        self._side_by_side = max(self._side_by_side, running)
        return changed

    def step(self, trial: str, step: int, steps: int) -> None:
        self._steps[trial] = (step, max(steps, 1))

    def score(self, trial: str) -> float | None:
        """The score of an ended trial."""
        return self._scores.get(trial)

    def trial(self, trial: str) -> TrialFacts | None:
        return self._trials.get(trial)

    @property
    def elapsed(self) -> float:
        """Seconds since this process took up the study."""
        return self._clock() - self._started

    def arms(self) -> list[ArmProgress]:
        """The arms of the plan in its order; none before there is a plan."""
        return [self._arm(arm.id, self.plan) for arm in self.plan.arms] if self.plan else []

    def remaining(self) -> float | None:
        """Estimated seconds to the end of the next look, from the trials that have ended so far."""
        if self.plan is None:
            return None
        if self.stage in ("look", "report", "verify", "done"):
            return CLOSING_SECONDS if self.stage != "done" else 0.0
        ended = [t.attempts[-1].seconds for t in self._trials.values() if t.status in ENDED]
        measured = [seconds for seconds in ended if seconds > 0]
        each = fmean(measured) if measured else self.plan.estimated_trial_seconds
        left = sum(arm.total * (1 - arm.fraction) for arm in self.arms())
        if not measured:
            whole = sum(arm.total for arm in self.arms())
            return self.plan.estimated_seconds * left / whole if whole else None
        return left * each / self._side_by_side + CLOSING_SECONDS

    def _arm(self, arm: str, plan: Plan) -> ArmProgress:
        mine = [t for t in self._trials.values() if t.spec.arm == arm]
        ended = [t for t in mine if t.status in ENDED]
        total = sum(
            max(count, sum(t.spec.phase == phase for t in mine))
            for phase, count in planned(plan, arm).items()
        )
        steps = [self._steps[t.spec.id] for t in mine if t.spec.id in self._steps]
        done = len(ended) + sum(step / steps for step, steps in steps)
        values = [
            self._scores[t.spec.id]
            for t in ended
            if t.spec.phase == "confirm" and t.spec.id in self._scores
        ]
        return ArmProgress(
            arm=arm,
            ended=len(ended),
            total=total,
            fraction=min(1.0, done / total) if total else 1.0,
            failed=sum(t.status == "failed" for t in ended),
            steps=tuple(steps),
            starting=sum(t.status == "running" for t in mine) - len(steps),
            mean=fmean(values) if values else None,
            spread=stdev(values) if len(values) > 1 else None,
            n=len(values),
        )


def planned(plan: Plan, arm: str) -> Mapping[str, int]:
    """Trials of one arm by phase, up to the first look."""
    tasks = len(plan.tasks)
    tuning = plan.tuning.candidates * len(plan.seeds.tuning) if plan.tuning else 0
    return {
        "pilot": len(plan.seeds.pilot) * tasks if arm == plan.arms[0].id else 0,
        "tuning": tuning * tasks,
        "confirm": plan.decision.looks[0] * tasks,
    }
