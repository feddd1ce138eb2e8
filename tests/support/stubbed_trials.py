"""Trials that end at once in this process: what a study's stages are tested with."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autoresearch.study.facts import ENDED
from autoresearch.study.ledger import Ledger
from autoresearch.study.trial import TrialSpec
from swarm.disk.folder import RunResult, RunWriter, manifest_digest


class Killed(BaseException):
    """Stands for a process that ends between two instructions."""


@dataclass
class StubbedTrials:
    """Runs trials at once in this process, and keeps the ids of those that it ran."""

    effect: float = 0.0
    spread: float = 0.001
    base: float = 0.5
    die_after: int | None = None
    ran: list[str] = field(default_factory=list)

    def __call__(self, ledger: Ledger, study: str, specs: Sequence[TrialSpec], **_: object) -> None:
        ledger.insert_trials(specs)
        status = {t.spec.id: t.status for t in ledger.facts(study).trials}
        for spec in specs:
            if status[spec.id] in ENDED:
                continue
            if self.die_after is not None and len(self.ran) >= self.die_after:
                raise Killed
            self.ran.append(spec.id)
            attempt = ledger.start_attempt(study, spec.id)
            self._train(RunWriter(attempt.folder), spec)
            ended = replace(
                attempt, status="finished", manifest=manifest_digest(attempt.folder), seconds=1.0
            )
            ledger.end_attempt(study, spec.id, ended, "finished")

    def _train(self, writer: RunWriter, spec: TrialSpec) -> None:
        level = (
            self.base + self.spread * (spec.seed % 7) + (self.effect if "none" in spec.arm else 0.0)
        )
        for step in range(0, spec.config.steps + 1, spec.config.evaluation.every):
            writer.metrics(step, float(step), {"eval/acc": level, "reward/mean": level})
        writer.seal(RunResult("finished", spec.config.steps, 1.0))
