"""A study's facts with the metrics of its counted attempts, each file read once."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autoresearch.analysis.scores import Point, metrics_of, score_points
from autoresearch.analysis.verdicts import Verdict, decide
from autoresearch.design.looks import nominal_alpha
from autoresearch.study.facts import ENDED, StudyFacts, TrialFacts
from autoresearch.study.plan import Hypothesis, Plan
from autoresearch.study.trial import TrialScore
from swarm.disk.folder import MANIFEST, METRICS, check_seal, manifest_digest, read_rows

Row = tuple[int, float, Mapping[str, float]]
"""(step, training seconds so far, metrics)."""

#: The kind of record that is written once the evaluator differs from the registered one.
EVALUATOR_CHANGED = "evaluator-changed"


@dataclass(frozen=True)
class Answer:
    """What a query finds, None where it is unknown, and what it rests on.

    `n` counts seeds unless the query says more.
    """

    value: float | int | str | None
    n: int | None = None
    interval: tuple[float, float] | None = None
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Readings:
    """Rows of sealed runs and the verdicts on them, by the digests of their manifests.

    A run whose digest has not changed is read once. Whether its files still fit it is not checked.
    """

    rows: dict[str, Sequence[Row]] = field(default_factory=dict)
    verdicts: dict[tuple[object, ...], tuple[Verdict, ...]] = field(default_factory=dict)


class Evidence:
    """What claims are computed from. Raises ValueError for a study without a plan.

    `look` is how many confirmation seeds an arm count; by default those of the last look taken.
    """

    def __init__(
        self, facts: StudyFacts, readings: Readings | None = None, look: int | None = None
    ) -> None:
        if facts.plan is None:
            raise ValueError(f"study {facts.study} has no plan yet")
        self.facts = facts
        self.plan: Plan = facts.plan
        self._readings = readings or Readings()
        self._look = look
        self._scores: dict[tuple[str, str], list[TrialScore]] = {}

    @cached_property
    def looks(self) -> tuple[int, ...]:
        """Seeds an arm at each look that the study may take."""
        sized = self.facts.records.get("size", {}).get("looks")
        return tuple(sized) if sized else self.plan.decision.looks

    @cached_property
    def look(self) -> int:
        """Seeds an arm at the look that this evidence belongs to."""
        if self._look is not None:
            return self._look
        taken = [row["n"] for kind, row in self.facts.records.items() if kind.startswith("look-")]
        return max(taken, default=self.looks[0])

    @property
    def level(self) -> float:
        """The two-sided level of the test at each look."""
        return nominal_alpha(self.plan.decision.alpha, self.looks)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The confirmation seeds of this look."""
        return self.plan.seeds.confirm[: self.look]

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """By hypothesis, in the plan's order."""
        runs = tuple((t.spec.id, t.status, _manifest(t)) for t in self.trials("confirm"))
        changed = EVALUATOR_CHANGED in self.facts.records
        key = (self.facts.registration, self.look, self.looks, changed, runs)
        if key not in self._readings.verdicts:
            scores = [s for m in metrics_of(self.plan) for s in self.scores("confirm", m)]
            self._readings.verdicts[key] = tuple(
                decide(
                    self.plan,
                    scores,
                    look=self.look,
                    looks=self.looks,
                    invalid_reason=invalid_reason(self.facts),
                )
            )
        return {verdict.hypothesis: verdict for verdict in self._readings.verdicts[key]}

    def hypothesis(self, name: str) -> Hypothesis:
        """The hypothesis of this id. Raises KeyError."""
        return {h.id: h for h in self.plan.hypotheses}[name]

    def trials(self, phase: str) -> list[TrialFacts]:
        """The ended trials of a phase; of confirmation, those with a seed of this look."""
        seeds = self.seeds if phase == "confirm" else None
        return [
            trial
            for trial in self.facts.of_phase(phase)
            if trial.status in ENDED and (seeds is None or trial.spec.seed in seeds)
        ]

    def runs(self, phase: str, **among: Collection[object]) -> tuple[str, ...]:
        """The runs of `trials(phase)` whose spec has, in each field, one of the values given."""
        return tuple(
            run_of(trial)
            for trial in self.trials(phase)
            if all(getattr(trial.spec, name) in values for name, values in among.items())
        )

    def rows(self, trial: TrialFacts) -> Sequence[Row]:
        """The metric rows of the attempt that counts; none if it failed, sealed or not."""
        folder = trial.folder
        if folder is None or trial.status == "failed":
            return ()
        key = _manifest(trial) or str(folder)
        if key not in self._readings.rows:
            self._readings.rows[key] = [
                (row["step"], row["wall"], row["metrics"]) for row in read_rows(folder / METRICS)
            ]
        return self._readings.rows[key]

    def points(self, trial: TrialFacts, metric: str) -> list[Point]:
        """The finite values of one metric in the attempt that counts, in step order."""
        return [
            (step, wall, metrics[metric])
            for step, wall, metrics in self.rows(trial)
            if metric in metrics and math.isfinite(metrics[metric])
        ]

    def scores(self, phase: str, metric: str) -> list[TrialScore]:
        """The scores on one metric of `trials(phase)`, in their order."""
        if (phase, metric) not in self._scores:
            self._scores[phase, metric] = [
                score_points(trial, self.plan, metric, self.points(trial, metric))
                for trial in self.trials(phase)
            ]
        return self._scores[phase, metric]

    def steps(self, metric: str) -> list[int]:
        """The steps at which any confirmation run logs a metric."""
        trials = self.trials("confirm")
        return sorted({step for trial in trials for step, _, _ in self.points(trial, metric)})

    def value_at(self, trial: TrialFacts, metric: str, step: int) -> float | None:
        """A run's value at a step; the registered floor after it diverged; None if unknown."""
        points = self.points(trial, metric)
        for at, _, value in points:
            if at == step:
                return value
        ended = trial.status == "diverged" and step > max((p[0] for p in points), default=-1)
        return self.plan.decision.floor if ended and metric in metrics_of(self.plan) else None

    def events(self, kind: str) -> list[Mapping[str, Any]]:
        """What was noted with each event of a kind, in the order in which they were recorded."""
        return [event["detail"] for event in self.facts.events if event["kind"] == kind]

    @cached_property
    def alarms(self) -> dict[tuple[str, str, str], list[Mapping[str, Any]]]:
        """What each alarm said, by its kind, phase and arm."""
        phases = {trial.spec.id: trial.spec.phase for trial in self.facts.trials}
        found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
        for detail in self.events("alarm"):
            key = (detail["alarm"], phases[detail["trial"]], detail["arm"])
            found.setdefault(key, []).append(detail)
        return found


def _manifest(trial: TrialFacts) -> str | None:
    """The sealed manifest of the attempt that counts, as the ledger has it."""
    return trial.attempts[-1].manifest if trial.attempts else None


def invalid_reason(facts: StudyFacts) -> str:
    """Why verdicts on this evidence are invalid; empty where they are not."""
    if facts.plan is not None and facts.plan.digest() != facts.registration:
        return "the plan is not the one that was registered"
    if EVALUATOR_CHANGED in facts.records:
        return "the code that judges answers changed during the study"
    for trial in facts.of_phase("confirm"):
        for problem in damage(trial):
            return f"evidence was changed after it was sealed: {problem}"
    return ""


def damage(trial: TrialFacts) -> list[str]:
    """How a trial's counted attempt differs from its seal and the ledger, a line a difference.

    A failed attempt may have died before it was sealed. Nothing of it is counted then.
    """
    folder = trial.folder
    if folder is None or (trial.status == "failed" and trial.attempts[-1].manifest is None):
        return []
    found = [str(item) for item in check_seal(folder)]
    if (sealed := manifest_digest(folder)) is not None and sealed != trial.attempts[-1].manifest:
        found.insert(0, f"{MANIFEST}: not the one that the ledger knows")
    return [f"run {run_of(trial)}: {item}" for item in found]


def run_of(trial: TrialFacts) -> str:
    """`<trial>/<attempt>` of the attempt that counts."""
    number = trial.attempts[-1].number if trial.attempts else 0
    return f"{trial.spec.id}/{number}"


def mean(values: Sequence[float]) -> float:
    """The mean, independent of the order of the values. Raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    return math.fsum(values) / len(values)
