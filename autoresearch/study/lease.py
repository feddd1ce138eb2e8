"""One process at a time drives a study.

The lease is a row of the ledger with a fencing token that grows with every holder. Each write
transaction compares its token with the row, so a holder that was replaced while it slept can
write nothing. A holder that died on this host is replaced at once; one on another host only
after its heartbeat has been silent for `SILENCE` seconds.
"""

import os
import platform
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path

import psutil

from autoresearch.study.endings import Leased

BEAT = 10.0
SILENCE = 60.0


@dataclass(frozen=True)
class Holder:
    """A process, told apart from any other that ever had its pid.

    `boot` is the kernel's boot id, `space` the pid namespace in which `pid` can be looked up,
    `started` the start time in clock ticks since boot. Where there is no /proc (macOS) they are
    empty: psutil's start times move when the clock is set, so there a pid that was given to
    another process is told apart by the silent heartbeat alone.
    """

    host: str
    boot: str
    space: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> "Holder":
        pid, boot = os.getpid(), _boot()
        # Without a boot id two hosts of one name are told apart by their network card.
        host = platform.node() if boot else f"{platform.node()} {uuid.getnode():012x}"
        return cls(host, boot, _pid_space(), pid, _started(pid))

    def is_dead(self, seen_from: "Holder") -> bool:
        """Whether this process is known to have ended, as far as `seen_from` can look."""
        if not self.boot and not seen_from.boot:
            here = (self.host, self.space) == (seen_from.host, seen_from.space)
            return here and _is_gone(self.pid)
        if not (self.boot and seen_from.boot):
            return False
        if self.boot != seen_from.boot:
            return self.host == seen_from.host  # the host was booted since
        return self.space == seen_from.space and _started(self.pid) != self.started

    def is_visible(self, seen_from: "Holder") -> bool:
        """Whether `is_dead` would notice this process's end, even if its pid were given anew."""
        return bool(self.boot) and (self.boot, self.space) == (seen_from.boot, seen_from.space)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


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
    stop = threading.Event()

    def beat() -> None:
        db = sqlite3.connect(file, timeout=5, isolation_level=None)
        while not stop.wait(BEAT):
            # A missed beat is harmless: SILENCE is six of them.
            with suppress(sqlite3.OperationalError):
                db.execute(
                    "UPDATE leases SET heartbeat = ? WHERE study = ? AND token = ?",
                    (time.time(), study, token),
                )
        db.close()

    thread = threading.Thread(target=beat, name=f"lease-{study}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


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


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _pid_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot; empty when it is gone or a zombie."""
    try:
        # The command's name stands in brackets and may hold spaces and brackets itself.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _is_gone(pid: int) -> bool:
    """Whether no process of this host has the pid, or a zombie."""
    try:
        status: str = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return True
    return status == str(psutil.STATUS_ZOMBIE)
