"""What `status` shows of a study: from the ledger and the run folders, without a driver."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from autoresearch.cli.progress import StudyProgress
from autoresearch.cli.screen import arm_table, track, verdict_line
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from swarm.disk.folder import METRICS, read_rows

Rows = Sequence[Mapping[str, Any]]

_COUNTED = ("pending", "running", "finished", "diverged", "failed")


def state(facts: StudyFacts, driven: bool) -> str:
    """The study's status; `interrupted` where it runs by the ledger but no process drives it."""
    return "interrupted" if facts.status == "running" and not driven else facts.status


def as_document(facts: StudyFacts, verdicts: Rows, driven: bool, home: Home) -> dict[str, Any]:
    """The document of `status --json`."""
    report = home.report(facts.study) / "report.md"
    return {
        "study": facts.study,
        "topic": facts.topic,
        "status": state(facts, driven),
        "cause": facts.cause,
        "stage": facts.stage,
        "registration": facts.registration,
        "exact": facts.exact,
        "trials": {s: sum(t.status == s for t in facts.trials) for s in _COUNTED},
        "arms": [
            {"id": arm.arm, "ended": arm.ended, "total": arm.total, "mean": arm.mean, "n": arm.n}
            for arm in _progress(facts, driven).arms()
        ],
        "hypotheses": [outcome(row) for row in verdicts],
        "report": str(report) if report.exists() else None,
    }


def outcome(row: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict's row as the documents of `start` and `status` show it."""
    bounded = row["low"] is not None and row["high"] is not None
    return {
        "id": row["hypothesis"],
        "verdict": row["verdict"],
        "effect": row["effect"],
        "interval": [row["low"], row["high"]] if bounded else None,
        "n": min(row["n"].values()),
    }


def render(facts: StudyFacts, verdicts: Rows, driven: bool) -> RenderableType:
    """Question, state, arms, stages, verdicts, failures."""
    progress, now = _progress(facts, driven), state(facts, driven)
    question = facts.plan.question if facts.plan else facts.topic
    parts: list[RenderableType] = [
        Text(question, style="bold"),
        Text(f"{facts.study} · {now}{f': {facts.cause}' if facts.cause else ''}", style="dim"),
        Text(),
        arm_table(progress, narrow=True),
        Text(),
        track(facts.stage),
    ]
    parts += [
        Text(event["detail"]["text"], "yellow")
        for event in facts.events
        if "exact: false" in str(event["detail"].get("text", ""))
    ]
    if verdicts:
        parts += [Text(), *(verdict_line(outcome(row)) for row in verdicts)]
    failed = [t for t in facts.trials if t.status == "failed"]
    if failed:
        parts += [
            Text(),
            Text(f"{len(failed)} trials failed, the last one: {failed[-1].cause}", "red"),
        ]
    return Padding(Group(*parts), (1, 1, 1, 1))


def next_step(facts: StudyFacts, driven: bool, home: Home) -> str:
    """Where the report is, or how to go on; empty for a study that runs."""
    report = home.report(facts.study) / "report.md"
    if report.exists():
        return f"report  {report}"
    if state(facts, driven) in ("interrupted", "paused", "failed"):
        return f"go on   autoresearch resume {facts.study}"
    return ""


def _progress(facts: StudyFacts, driven: bool) -> StudyProgress:
    progress = StudyProgress()
    progress.plan, progress.stage = facts.plan, facts.stage
    progress.trials(facts.trials)
    for trial in facts.trials:
        if driven and trial.status == "running":
            steps = [row["step"] for row in read_rows(trial.attempts[-1].folder / METRICS)]
            if steps:
                progress.step(trial.spec.id, steps[-1], trial.spec.config.steps)
    return progress
