"""The ledger's rows as facts. Plain SELECTs, so that `status` needs no sqlite-utils."""

import difflib
import json
import re
import sqlite3
from collections import defaultdict
from typing import Any

from autoresearch.study.facts import STAGE_NOW, AttemptFacts, StudyFacts, TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan
from autoresearch.study.trial import TrialSpec
from swarm.errors import Refusal


def studies(db: sqlite3.Connection) -> list[StudyFacts]:
    """Every study, oldest first, without plan, trials, records and events."""
    return [_study(row) for row in db.execute("SELECT * FROM studies ORDER BY created_at, id")]


def study_row(db: sqlite3.Connection, study: str) -> sqlite3.Row:
    """The study's row. Raises Refusal, naming the nearest id, when there is none."""
    row = db.execute("SELECT * FROM studies WHERE id = ?", (study,)).fetchone()
    if row is not None:
        return row  # type: ignore[no-any-return]
    known = [found["id"] for found in db.execute("SELECT id FROM studies ORDER BY created_at")]
    near = difflib.get_close_matches(study, known, n=1, cutoff=0.4)
    if near:
        raise Refusal("study", f"no study {study!r} here", f"did you mean {near[0]}?")
    raise Refusal("study", f"no study {study!r} here", "see `autoresearch list`")


def facts(db: sqlite3.Connection, home: Home, study: str) -> StudyFacts:
    """All that the ledger holds on a study, from one snapshot. Raises Refusal."""
    db.execute("BEGIN")
    try:
        row = study_row(db, study)
        records = _of_study(db, "records", study, "recorded_at, kind")
        trials = _of_study(db, "trials", study, "rowid")
        attempts = _of_study(db, "attempts", study, "trial, number")
        events = _of_study(db, "events", study, "id")
    finally:
        db.execute("COMMIT")
    tried: defaultdict[str, list[AttemptFacts]] = defaultdict(list)
    for attempt in attempts:
        tried[attempt["trial"]].append(_attempt(home, attempt))
    return _study(
        row,
        plan=Plan.read_back(row["plan"]) if row["plan"] else None,
        records={record["kind"]: json.loads(record["payload"]) for record in records},
        trials=tuple(
            TrialFacts(
                spec=TrialSpec.read_back(trial["spec"]),
                status=trial["status"],
                attempts=tuple(tried[trial["id"]]),
            )
            for trial in trials
        ),
        events=tuple(
            {"time": e["time"], "kind": e["kind"], "detail": json.loads(e["detail"])}
            for e in events
        ),
    )


def findings(db: sqlite3.Connection, query: str, limit: int) -> list[dict[str, Any]]:
    """Findings that share a word with `query`, best first; the newest when it has no word.

    Each is {"study", "hypothesis", "text", "detail", "found_at"}.
    """
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
    if words:
        rows = db.execute(
            "SELECT findings.* FROM findings_text JOIN findings"
            " ON findings.rowid = findings_text.rowid"
            " WHERE findings_text MATCH ? ORDER BY rank LIMIT ?",
            (words, limit),
        )
    else:
        rows = db.execute("SELECT * FROM findings ORDER BY found_at DESC LIMIT ?", (limit,))
    return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows]


def _study(row: sqlite3.Row, **more: Any) -> StudyFacts:
    return StudyFacts(
        study=row["id"],
        topic=row["topic"],
        stage=STAGE_NOW.get(row["stage"], row["stage"]),
        status=row["status"],
        cause=row["cause"],
        created_at=row["created_at"],
        registration=row["registration"],
        registered_at=row["registered_at"],
        **more,
    )


def _attempt(home: Home, row: sqlite3.Row) -> AttemptFacts:
    return AttemptFacts(
        number=row["number"],
        folder=home.attempt(row["study"], row["trial"], row["number"]),
        status=row["status"],
        cause=row["cause"],
        manifest=row["manifest"],
        seconds=row["seconds"],
        charged=bool(row["charged"]),
        started_at=row["started_at"],
        summary=json.loads(row["summary"]),
    )


def _of_study(db: sqlite3.Connection, table: str, study: str, order: str) -> list[sqlite3.Row]:
    query = f"SELECT * FROM {table} WHERE study = ? ORDER BY {order}"
    return db.execute(query, (study,)).fetchall()
