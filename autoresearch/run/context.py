"""What each stage of a study works with: the study, its ledger, the cluster, the budget."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autoresearch.analysis.evidence import Evidence, Readings
from autoresearch.execute.observer import Observer
from autoresearch.execute.projector import Projector
from autoresearch.execute.runner import run_trials
from autoresearch.execute.stop import StopRequests
from autoresearch.study.budget import Budget
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.plan import Plan
from autoresearch.study.trial import TrialSpec
from swarm.cluster.cluster import Cluster


@dataclass(frozen=True)
class StudyContext:
    """A study that this process holds, and the means to move it on."""

    study: str
    ledger: Ledger
    home: Home
    cluster: Cluster
    projector: Projector
    budget: Budget
    stop: StopRequests
    observer: Observer
    readings: Readings = field(default_factory=Readings)

    def facts(self) -> StudyFacts:
        return self.ledger.facts(self.study)

    def evidence(self, look: int | None = None) -> Evidence:
        """The facts with the metrics of sealed runs, each read once in this process."""
        return Evidence(self.facts(), self.readings, look)

    def plan(self) -> Plan:
        """The draft, or the frozen plan. Raises RuntimeError before there is one."""
        plan = self.facts().plan
        if plan is None:
            raise RuntimeError(f"study {self.study} has no plan yet")
        return plan

    def registered(self) -> tuple[Plan, str]:
        """The frozen plan and its digest. Raises RuntimeError before the freeze."""
        facts = self.facts()
        if facts.plan is None or facts.registration is None:
            raise RuntimeError(f"study {self.study} is not registered yet")
        return facts.plan, facts.registration

    def run(self, specs: Sequence[TrialSpec]) -> Evidence:
        """Run the trials that have not ended; return the evidence once all have."""
        run_trials(
            self.ledger,
            self.study,
            specs,
            cluster=self.cluster,
            budget=self.budget,
            observer=self.observer,
            projector=self.projector,
            stop=self.stop,
        )
        return self.evidence()

    def note(self, kind: str, text: str) -> None:
        """Write an event to the ledger and show it on the screen, once."""
        if self.ledger.add_event(self.study, kind, once=text, text=text):
            self.observer.note(text)
