"""Running one study from wherever it stands to its report, and saying how that ended.

The driver holds the study's lease from its first write to its last. LangGraph is imported in a
second thread while Ray starts; MLflow has a thread of its own all along.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any, Literal

from autoresearch.analysis.scores import metrics_of
from autoresearch.analysis.verdicts import Verdict
from autoresearch.design.sizing import Underpowered
from autoresearch.execute.observer import Observer
from autoresearch.execute.projector import Projector
from autoresearch.execute.stop import stop_requests
from autoresearch.planner.preview import study_id
from autoresearch.planner.task_for import require_usable
from autoresearch.run.context import StudyContext
from autoresearch.run.stages import VerificationFailed
from autoresearch.study.budget import Budget
from autoresearch.study.endings import AtTheFloor, BudgetExhausted, Leased, Paused, TaskFailed
from autoresearch.study.facts import StudyFacts, busy_seconds
from autoresearch.study.fingerprint import is_of_an_earlier_version, study_fingerprint
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger, StudyStatus
from autoresearch.study.options import StartOptions, start_command
from autoresearch.study.plan import Plan
from swarm import models
from swarm.cluster.actor import TRAIN
from swarm.cluster.cluster import Cluster
from swarm.disk.faults import of_defect, of_machine, one_line
from swarm.errors import InfrastructureError, Refusal, said
from swarm.train.fingerprint import differences, told

End = Literal["done", "failed", "paused", "budget"]
EXIT_CODES: Mapping[End, int] = {"done": 0, "failed": 1, "paused": 3, "budget": 4}

_GRAPH = "autoresearch.run.graph"


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

    The id follows from the plan. A study with the plan of an earlier one gets a number appended.
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
    observer: Observer = Observer(),
    ray_address: str | None = None,
    more_seconds: float = 0.0,
    entry: str = TRAIN,
) -> Summary:
    """Take up a study at the ledger's stage and run it until it is done or cannot go on.

    `more_seconds` are added to what is left of the budget; `entry` is the "module:function" that
    trains. Raises Leased before anything is written, and Refusal for an unknown study, one begun by
    an earlier version, files of the user's own task that have changed, a model that is gone and an
    address that does not answer.
    """
    began, clock = time.time(), time.monotonic()
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    if facts.stage == "done":
        return summarise(ledger, home, facts, _Ending(), 0.0)
    _refuse_earlier_version(ledger, facts)
    if facts.plan is not None:
        require_usable(facts.plan)
    with ledger.hold(study):
        home.pause_flag(study).unlink(missing_ok=True)
        ledger.set_status(study, "running")
        if facts.plan is not None:
            observer.plan(facts.plan)
        observer.trials(facts.trials)
        metrics = metrics_of(facts.plan) if facts.plan is not None else ()
        with Projector(home, study, facts.topic, metrics, facts.trials) as projector:
            with _recorded(ledger, study) as ending:
                if facts.plan is not None:
                    models.ensure(facts.plan.model)
                with (
                    _counted(ledger, facts, more_seconds) as budget,
                    _machines(home, study, ray_address, entry) as cluster,
                    stop_requests(home.pause_flag(study)) as stop,
                ):
                    context = StudyContext(
                        study, ledger, home, cluster, projector, budget, stop, observer
                    )
                    _note_changes(context, facts)
                    import_module(_GRAPH).run_graph(context)
            verdicts = {row["hypothesis"]: row["verdict"] for row in ledger.verdicts(study)}
            projector.study_ended(ledger.facts(study).status, verdicts)
        if projector.problem:
            text = f"MLflow lacks part of the study ({projector.problem})"
            ledger.add_event(study, "mlflow-lacks", text=text)
            observer.note(f"{text}; add it with: autoresearch mlflow {study}")
        wall = time.monotonic() - clock
        busy = busy_seconds(ledger.facts(study).trials, since=began)
        outside = max(0.0, 1 - busy / wall)  # the share of this process' time without a trial
        text = f"{wall:.0f} s, of which {outside:.0%} outside trials"
        ledger.add_event(study, "timing", text=text, wall=round(wall, 1), outside=round(outside, 3))
        summary = summarise(ledger, home, ledger.facts(study), ending, wall)
    observer.finished(summary.json())
    return summary


def _note_changes(context: StudyContext, facts: StudyFacts) -> None:
    """Where a study goes on under other versions, code or processor than it was registered under,
    say so: in its events, and as a deviation in its report."""
    recorded = facts.records.get("fingerprint")
    if facts.plan is None or recorded is None:
        return
    changed = differences(recorded, study_fingerprint(facts.plan))
    if changed:
        text = f"it went on under another fingerprint (exact: false): {told(changed)}"
        noted = context.ledger.add_event(context.study, "deviation", once=text, text=text)
        if noted:
            context.observer.note(text)


@dataclass
class _Ending:
    """How a run ends; an exception changes it."""

    end: End = "done"
    cause: str = ""


def summarise(
    ledger: Ledger, home: Home, facts: StudyFacts, ending: "_Ending", seconds: float
) -> Summary:
    """The summary of a study. Verdicts, report and claims are there once it is done."""
    report = home.report(facts.study)
    text, claims = report / "report.md", report / "claims.json"
    found = ledger.verdicts(facts.study) if ending.end == "done" else []
    return Summary(
        study=facts.study,
        end=ending.end,
        cause=ending.cause,
        report=str(text) if text.exists() else None,
        claims=str(claims) if claims.exists() else None,
        hypotheses=tuple(_outcome(Verdict.model_validate(row)) for row in found),
        seconds=seconds,
        done=sum(trial.status in ("finished", "diverged") for trial in facts.trials),
        failed=sum(trial.status == "failed" for trial in facts.trials),
    )


def _refuse_earlier_version(ledger: Ledger, facts: StudyFacts) -> None:
    """Raise Refusal for a study that was registered with a `tiny` of its own machine."""
    if is_of_an_earlier_version(facts.records.get("fingerprint", {})):
        options = StartOptions.model_validate(ledger.options(facts.study))
        raise Refusal(
            "study",
            f"{facts.study} was begun by an earlier version, which recorded its model and what "
            "judges its answers in another way",
            f"finish it with that version, or start anew: {start_command(options)}",
        )


@contextmanager
def _counted(ledger: Ledger, facts: StudyFacts, more_seconds: float) -> Iterator[Budget]:
    """The budget that counts the time of the block: as registered, or as a resume has raised it.

    Raising it is a deviation from the plan, and the report says so.
    """
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
    seconds = max([limits.seconds, *raised])
    budget = Budget(ledger, study, limits.model_copy(update={"seconds": seconds}))
    try:
        yield budget
    finally:
        budget.save()


@contextmanager
def _recorded(ledger: Ledger, study: str) -> Iterator[_Ending]:
    """Turn what ends the block into a status of the study; a defect's traceback goes to a file.

    What the user can put right at once is raised again: Refusal, RayUnreachable, Leased.
    """
    ending = _Ending()
    try:
        yield ending
    except Leased:
        raise
    except Refusal as error:
        ledger.set_status(study, "paused", cause=_line(error))
        raise
    except Paused as error:
        ending.end, ending.cause = "paused", error.reason
    except KeyboardInterrupt:
        ending.end, ending.cause = "paused", "interrupted"
    except BudgetExhausted as error:
        ending.end, ending.cause = "budget", _line(error)
    except (InfrastructureError, TaskFailed, AtTheFloor, Underpowered, VerificationFailed) as error:
        ending.end, ending.cause = "failed", _line(error)
    except Exception as error:
        ending.end, ending.cause = (
            "failed",
            one_line(of_machine(error) or of_defect(error, "autoresearch")),
        )
    if ending.end != "done":
        status: StudyStatus = "paused" if ending.end == "budget" else ending.end
        ledger.set_status(study, status, cause=ending.cause)


@contextmanager
def _machines(home: Home, study: str, address: str | None, entry: str) -> Iterator[Cluster]:
    """Start Ray while LangGraph is imported. Ray is imported first, because imports share locks."""
    import_module("ray")
    graph = threading.Thread(target=import_module, args=(_GRAPH,), daemon=True)
    graph.start()
    namespace, log = home.ray_namespace(study), home.log(study)
    with Cluster.start(address, namespace, log, None, entry) as cluster:
        graph.join()
        yield cluster


def _is_known(ledger: Ledger, study: str) -> bool:
    return any(facts.study == study for facts in ledger.studies())


def _outcome(verdict: Verdict) -> dict[str, Any]:
    return {
        "id": verdict.hypothesis,
        "verdict": verdict.verdict,
        "effect": verdict.effect,
        "interval": None if verdict.low is None else [verdict.low, verdict.high],
        "n": min(verdict.n.values()),
    }


def _line(error: Exception) -> str:
    """The error's text on one line."""
    return said(error) or type(error).__name__
