"""The ledger's tables. JSON stands in TEXT columns; times are unix seconds."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from swarm.errors import Refusal

VERSION = 1

_ELSEWHERE = "set AUTORESEARCH_HOME to another folder"

_TABLES = """
CREATE TABLE IF NOT EXISTS studies (
    id TEXT PRIMARY KEY, topic TEXT NOT NULL, options TEXT NOT NULL,
    stage TEXT NOT NULL, status TEXT NOT NULL, cause TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL, spent REAL NOT NULL DEFAULT 0,
    plan TEXT, registration TEXT, registered_at REAL);
CREATE TABLE IF NOT EXISTS records (
    study TEXT NOT NULL REFERENCES studies(id), kind TEXT NOT NULL,
    payload TEXT NOT NULL, recorded_at REAL NOT NULL,
    PRIMARY KEY (study, kind));
CREATE TABLE IF NOT EXISTS trials (
    study TEXT NOT NULL REFERENCES studies(id), id TEXT NOT NULL,
    phase TEXT NOT NULL, spec TEXT NOT NULL, status TEXT NOT NULL,
    PRIMARY KEY (study, id));
CREATE TABLE IF NOT EXISTS attempts (
    study TEXT NOT NULL, trial TEXT NOT NULL, number INTEGER NOT NULL,
    status TEXT NOT NULL, cause TEXT NOT NULL DEFAULT '', charged INTEGER NOT NULL DEFAULT 1,
    manifest TEXT, seconds REAL NOT NULL DEFAULT 0, summary TEXT NOT NULL DEFAULT '{}',
    started_at REAL NOT NULL, ended_at REAL,
    PRIMARY KEY (study, trial, number),
    FOREIGN KEY (study, trial) REFERENCES trials(study, id));
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, study TEXT NOT NULL REFERENCES studies(id), time REAL NOT NULL,
    kind TEXT NOT NULL, once TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS events_once ON events (study, kind, once) WHERE once != '';
CREATE TABLE IF NOT EXISTS verdicts (
    study TEXT NOT NULL REFERENCES studies(id), hypothesis TEXT NOT NULL, row TEXT NOT NULL,
    PRIMARY KEY (study, hypothesis));
CREATE TABLE IF NOT EXISTS findings (
    study TEXT NOT NULL REFERENCES studies(id), hypothesis TEXT NOT NULL,
    text TEXT NOT NULL, detail TEXT NOT NULL, found_at REAL NOT NULL,
    PRIMARY KEY (study, hypothesis));
CREATE VIRTUAL TABLE IF NOT EXISTS findings_text
    USING fts5(text, content='findings', tokenize='porter');
CREATE TRIGGER IF NOT EXISTS findings_added AFTER INSERT ON findings BEGIN
    INSERT INTO findings_text (rowid, text) VALUES (new.rowid, new.text);
END;
CREATE TABLE IF NOT EXISTS leases (
    study TEXT PRIMARY KEY, token INTEGER NOT NULL, host TEXT NOT NULL,
    boot TEXT NOT NULL, space TEXT NOT NULL, pid INTEGER, started TEXT NOT NULL,
    acquired REAL NOT NULL, heartbeat REAL NOT NULL);
"""


def connect(file: Path) -> sqlite3.Connection:
    """A connection to an existing ledger, or to an empty one in memory if there is none.

    WAL with synchronous=FULL: a commit survives a power cut, so a registration that was
    acknowledged cannot vanish after data were taken. A study commits a few rows a second at most.
    Raises Refusal when the file was written by a newer version or is not a ledger.
    """
    version = 0
    if file.exists():
        try:
            db = _open(str(file))
            version = db.execute("PRAGMA user_version").fetchone()[0]
            _refuse_foreign(db, file, version)
        except sqlite3.DatabaseError as error:
            problem = f"{file} is not an SQLite file ({error})"
            raise Refusal("ledger", problem, _ELSEWHERE) from error
    if version == 0:
        db = _open(":memory:")
        db.executescript(_TABLES)
    if version > VERSION:
        db.close()
        raise Refusal(
            "ledger",
            f"{file} has schema {version}, this version reads up to {VERSION}",
            f"upgrade autoresearch, or {_ELSEWHERE}",
        )
    return db


def _refuse_foreign(db: sqlite3.Connection, file: Path, version: int) -> None:
    """Raise Refusal for the database of another program: tables of its own, or none of ours."""
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    ours = {"studies", "records", "trials", "attempts", "events", "leases"}
    if tables if version == 0 else version <= VERSION and not ours <= tables:
        db.close()
        raise Refusal("ledger", f"{file} is the database of another program", _ELSEWHERE)


def create(file: Path) -> None:
    """Create the ledger file unless it exists. Two processes may do it at once. Raises Refusal for
    the database of another program."""
    file.parent.mkdir(parents=True, exist_ok=True)
    db = _open(str(file))
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            _refuse_foreign(db, file, version)
            db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        # Locked only while another process does the same.
        with suppress(sqlite3.OperationalError):
            db.execute("PRAGMA journal_mode=WAL")
    finally:
        db.close()


def _open(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=30, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA foreign_keys=ON")
    return db
