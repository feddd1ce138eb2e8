"""One process at a time drives a study.

The lease is a row of the ledger with a fencing token that grows with every holder. Each write
transaction compares its token with the row, so a holder that was replaced while it slept can
write nothing. A holder that died on this host is replaced at once; one on another host only
after its heartbeat has been silent for `SILENCE` seconds.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple
from pathlib import Path

from autoresearch.study.endings import Leased
from swarm.disk import holder as holders
from swarm.disk.holder import SILENCE, Holder


def acquire(db: sqlite3.Connection, study: str, holder: Holder, now: float) -> int:
    """Make `holder` the study's holder; return its fencing token. Raises Leased."""
    with immediate(db):
        other = living(db, study, holder, now)
        if other is not None:
            raise Leased(study, str(other))
        row = db.execute("SELECT token FROM leases WHERE study = ?", (study,)).fetchone()
        token = (row["token"] if row is not None else 0) + 1
        db.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (study, token, *astuple(holder), now, now),
        )
    return token


def living(db: sqlite3.Connection, study: str, seen_from: Holder, now: float) -> Holder | None:
    """Who holds the study, as far as `seen_from` can tell; None where nobody alive does."""
    row = db.execute("SELECT * FROM leases WHERE study = ?", (study,)).fetchone()
    if row is None or row["pid"] is None:
        return None
    other = Holder(*(row[name] for name in ("host", "boot", "space", "pid", "started")))
    silent = not other.is_visible(seen_from) and now - row["heartbeat"] > SILENCE
    return None if silent or other.is_dead(seen_from) else other


def check(db: sqlite3.Connection, study: str, token: int) -> None:
    """Raise Leased unless `token` is the study's newest. Call inside the write transaction."""
    row = db.execute("SELECT * FROM leases WHERE study = ?", (study,)).fetchone()
    if row is None or row["token"] != token:
        raise Leased(study, f"process {row['pid']} on {row['host']}" if row else "nobody")


def release(db: sqlite3.Connection, study: str, token: int) -> None:
    """Give the lease back. The token stays, so that the next holder's is larger."""
    with immediate(db):
        db.execute("UPDATE leases SET pid = NULL WHERE study = ? AND token = ?", (study, token))


@contextmanager
def beating(file: Path, study: str, token: int) -> Iterator[None]:
    """Refresh the heartbeat from a thread, on a connection of its own."""

    def beat() -> None:
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(file, timeout=5)) as db,
            db,
        ):
            db.execute(
                "UPDATE leases SET heartbeat = ? WHERE study = ? AND token = ?",
                (time.time(), study, token),
            )

    with holders.beating(beat, f"lease-{study}"):
        yield


@contextmanager
def immediate(db: sqlite3.Connection) -> Iterator[None]:
    """A transaction that takes the write lock at its start."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
