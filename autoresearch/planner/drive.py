"""Running one study from wherever it stands to its report, and saying how that ended.

The driver holds the study's lease from its first write to its last. LangGraph and MLflow are
imported in a second thread while Ray starts: together they take seconds.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any, Literal

from autoresearch.analysis.claims import compute
from autoresearch.analysis.verdicts import Verdict
from autoresearch.execute.observer import Observer
from autoresearch.planner.nodes import VerificationFailed, Work
from autoresearch.planner.options import StartOptions
from autoresearch.planner.preview import study_id
from autoresearch.planner.sizing import Underpowered
from autoresearch.study.budget import Budget
from autoresearch.study.errors import BudgetExhausted, InfrastructureError, Leased, Paused
from autoresearch.study.facts import StudyFacts, TrialFacts
from autoresearch.study.ledger import Ledger
from autoresearch.study.paths import Home
from autoresearch.study.plan import Plan
from swarm.cluster import TRAIN, Cluster
from swarm.models import tiny

End = Literal["done", "failed", "paused", "budget"]
EXIT_CODES: Mapping[End, int] = {"done": 0, "failed": 1, "paused": 3, "budget": 4}

_HEAVY = ("langgraph.graph", "langgraph.checkpoint.sqlite", "mlflow.tracking")


@dataclass(frozen=True)
class Summary:
    """How a study's run ended; `json()` is the document that `start --json` prints."""

    study: str
    end: End
    cause: str
    report: str | None
    claims: str | None
    hypotheses: tuple[Mapping[str, Any], ...]
    seconds: float
    done: int
    failed: int

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.end]

    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "study": self.study,
            "status": self.end,
            "report": self.report,
            "claims": self.claims,
            "hypotheses": [dict(h) for h in self.hypotheses],
            "seconds": round(self.seconds, 1),
            "trials": {"done": self.done, "failed": self.failed},
        }
        return document | ({"cause": self.cause} if self.cause else {})


def new_study(home: Home, plan: Plan, options: StartOptions) -> str:
    """Enter a study and its draft into the ledger; return its id.

    The id is the plan's own, with a number behind it where an earlier study has that plan.
    """
    ledger = Ledger.open(home)
    for number in count(1):
        study = study_id(plan) if number == 1 else f"{study_id(plan)}-{number}"
        if _is_known(ledger, study):
            continue
        with suppress(Leased), ledger.hold(study):
            if not _is_known(ledger, study):
                ledger.create_study(study, options.topic, options.model_dump(mode="json"))
                ledger.save_plan(study, plan)
                break
    ledger.close()
    return study


def run_study(
    home: Home,
    study: str,
    *,
    observer: Observer,
    ray_address: str | None = None,
    more_seconds: float = 0.0,
    on_model: Callable[[int, int], None] | None = None,
    entry: str = TRAIN,
) -> Summary:
    """Take up a study at the ledger's stage and run it until it is done or cannot go on.

    `more_seconds` are added to what is left of the budget; `on_model(step, steps)` is told about
    the building of the base model; `entry` is the "module:function" that trains. Raises Leased
    before anything is written, BadInput for an unknown study, RayUnreachable for an address that
    does not answer.
    """
    began, clock = time.time(), time.monotonic()
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    if facts.stage == "done":
        return summarise(home, facts, "done", "", 0.0)
    with ledger.hold(study):
        ledger.set_status(study, "running")
        if facts.plan is not None:
            observer.plan(facts.plan)
        observer.trials(facts.trials)
        try:
            budget = _budget(ledger, facts, more_seconds)
            end, cause = _run(home, ledger, study, observer, budget, ray_address, on_model, entry)
        except Exception as error:
            ledger.set_status(study, "failed", cause=f"{type(error).__name__}: {_line(error)}")
            raise
        facts = ledger.facts(study)
        wall = time.monotonic() - clock
        busy = busy_seconds(facts.trials, since=began)
        ledger.add_event(
            study,
            "timing",
            wall=round(wall, 1),
            busy=round(busy, 1),
            outside=round(1 - busy / wall, 3),
        )
    summary = summarise(home, facts, end, cause, wall)
    observer.finished(summary.json())
    return summary


def summarise(home: Home, facts: StudyFacts, end: End, cause: str, seconds: float) -> Summary:
    """What a study came to. Verdicts, report and claims are there once it is done."""
    report = home.report(facts.study)
    text, claims = report / "report.md", report / "claims.json"
    found = compute(facts).verdicts if end == "done" else ()
    ended = [t.status for t in facts.trials]
    return Summary(
        study=facts.study,
        end=end,
        cause=cause,
        report=str(text) if text.exists() else None,
        claims=str(claims) if claims.exists() else None,
        hypotheses=tuple(_outcome(verdict) for verdict in found),
        seconds=seconds,
        done=sum(status in ("finished", "diverged") for status in ended),
        failed=sum(status == "failed" for status in ended),
    )


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


def _budget(ledger: Ledger, facts: StudyFacts, more_seconds: float) -> Budget:
    """The registered limit, unless a resume has raised it: that is a deviation, and reported."""
    if facts.plan is None:
        raise RuntimeError(f"study {facts.study} was created without a draft")
    study, limits = facts.study, facts.plan.budget
    if more_seconds:
        seconds = max(limits.seconds, ledger.spent(study) + more_seconds)
        text = f"the budget of {limits.seconds:.0f} s was raised to {seconds:.0f} s"
        ledger.add_event(study, "deviation", text=text, seconds=seconds)
    raised = [
        event["detail"]["seconds"]
        for event in ledger.facts(study).events
        if event["kind"] == "deviation" and "seconds" in event["detail"]
    ]
    return Budget(
        ledger, study, limits.model_copy(update={"seconds": max([limits.seconds, *raised])})
    )


def _run(
    home: Home,
    ledger: Ledger,
    study: str,
    observer: Observer,
    budget: Budget,
    ray_address: str | None,
    on_model: Callable[[int, int], None] | None,
    entry: str,
) -> tuple[End, str]:
    """Run the graph; every ending that is no defect becomes a status in the ledger."""
    try:
        if ledger.options(study)["model"] == tiny.NAME:
            tiny.ensure(on_model)
        import_module("ray")
        warm = threading.Thread(target=_import_heavy, daemon=True)
        warm.start()
        with Cluster.start(ray_address, home.study(study), None, entry=entry) as cluster:
            warm.join()
            from autoresearch.planner.graph import run_graph

            run_graph(Work(study, ledger, home, cluster, budget, observer))
    except (Paused, KeyboardInterrupt) as error:
        ledger.set_status(study, "paused", cause=_line(error))
        return "paused", _line(error)
    except BudgetExhausted as error:
        ledger.set_status(study, "paused", cause=_line(error))
        return "budget", _line(error)
    except (InfrastructureError, Underpowered, VerificationFailed) as error:
        ledger.set_status(study, "failed", cause=_line(error))
        return "failed", _line(error)
    finally:
        budget.save()
    return "done", ""


def _is_known(ledger: Ledger, study: str) -> bool:
    return any(facts.study == study for facts in ledger.studies())


def _outcome(verdict: Verdict) -> dict[str, Any]:
    bounded = verdict.low is not None and verdict.high is not None
    return {
        "id": verdict.hypothesis,
        "verdict": verdict.verdict,
        "effect": verdict.effect,
        "interval": [verdict.low, verdict.high] if bounded else None,
        "n": min(verdict.n.values()),
    }


def _import_heavy() -> None:
    for name in _HEAVY:
        import_module(name)


def _line(error: BaseException) -> str:
    """The error's text on one line."""
    return " ".join(str(error).split()) or {"KeyboardInterrupt": "interrupted"}.get(
        type(error).__name__, type(error).__name__
    )
