"""The ledger: one SQLite file per home, the truth about its studies.

Anyone may read. Writing needs the study's lease (`Ledger.hold`); every write is one transaction
that checks the lease's fencing token first, so a driver that was replaced raises `Leased` and
changes nothing. Inserts are idempotent by their keys, because a driver that died between an
effect and its record does both again.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from autoresearch.study import database, lease, ledger_rows
from autoresearch.study.facts import AttemptFacts, Stage, StudyFacts, TrialStatus
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan
from autoresearch.study.trial import TrialSpec
from swarm.disk.holder import Holder
from swarm.errors import Refusal

if TYPE_CHECKING:
    from sqlite_utils import Database

#: The fields of `AttemptFacts` that are stored when an attempt ends.
_ENDING = ("status", "cause", "charged", "manifest", "seconds", "summary")

StudyStatus = Literal["running", "paused", "stopped", "failed", "done"]


class Ledger:
    """Reads and writes one home's ledger. Use it from one thread."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._db = database.connect(home.ledger_file)
        self._tokens: dict[str, int] = {}
        self._facts: dict[str, StudyFacts] = {}

    @classmethod
    def open(cls, home: Home) -> "Ledger":
        """Open for reading; a home without a ledger reads as empty and stays untouched.

        Raises Refusal when the file was written by a newer version or is not a ledger.
        """
        return cls(home)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def hold(self, study: str) -> Iterator[None]:
        """Hold the study's lease, without which it cannot be written. Raises Leased.

        Creates the ledger file if there is none. The study itself need not exist yet.
        """
        database.create(self._home.ledger_file)
        self._db.close()
        self._db = database.connect(self._home.ledger_file)
        token = lease.acquire(self._db, study, Holder.current(), time.time())
        self._tokens[study] = token
        try:
            with lease.beating(self._home.ledger_file, study, token):
                yield
        finally:
            del self._tokens[study]
            self._facts.pop(study, None)
            lease.release(self._db, study, token)

    # Reading

    def studies(self) -> list[StudyFacts]:
        """Every study, oldest first, without plan, trials, records and events."""
        return ledger_rows.studies(self._db)

    def facts(self, study: str) -> StudyFacts:
        """All that is known of a study. Raises Refusal when it is unknown."""
        if study not in self._tokens:
            return ledger_rows.facts(self._db, self._home, study)
        if study not in self._facts:  # nobody else writes while this process holds the study
            self._facts[study] = ledger_rows.facts(self._db, self._home, study)
        return self._facts[study]

    def options(self, study: str) -> dict[str, Any]:
        """The options that the study was created with. Raises Refusal."""
        return dict(json.loads(ledger_rows.study_row(self._db, study)["options"]))

    def spent(self, study: str) -> float:
        """Wall seconds that the study has used. Raises Refusal."""
        return float(ledger_rows.study_row(self._db, study)["spent"])

    def is_driven(self, study: str) -> bool:
        """Whether a living process holds the study."""
        return lease.living(self._db, study, Holder.current(), time.time()) is not None

    def verdicts(self, study: str) -> list[dict[str, Any]]:
        """The rows of the last `save_verdicts`."""
        query = "SELECT row FROM verdicts WHERE study = ? ORDER BY rowid"
        return [json.loads(row["row"]) for row in self._db.execute(query, (study,))]

    def findings(self, query: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """Findings of all studies: those that share a word with `query`, best first, or all."""
        return ledger_rows.findings(self._db, query, limit)

    # Writing: the study

    def create_study(self, study: str, topic: str, options: Mapping[str, Any]) -> None:
        """Insert the study at its first stage; does nothing when it exists."""
        row = {
            "id": study,
            "topic": topic,
            "options": dict(options),
            "stage": "freeze",
            "status": "running",
            "created_at": time.time(),
        }
        with self._writing(study) as db:
            db["studies"].insert(row, ignore=True)

    def set_stage(self, study: str, stage: Stage) -> None:
        with self._writing(study) as db:
            db["studies"].update(study, {"stage": stage})

    def set_status(self, study: str, status: StudyStatus, cause: str = "") -> None:
        with self._writing(study) as db:
            db["studies"].update(study, {"status": status, "cause": cause})

    def save_plan(self, study: str, plan: Plan) -> None:
        """Store a draft. Raises Refusal once the plan is registered and differs."""
        with self._writing(study) as db:
            self._refuse_change(study, plan)
            db["studies"].update(study, {"plan": plan.model_dump_json()})

    def register(self, study: str, plan: Plan) -> str:
        """Freeze the plan before any data exist; return its digest.

        Again with the same plan returns the same digest; with another raises Refusal.
        """
        digest = plan.digest()
        with self._writing(study) as db:
            if not self._refuse_change(study, plan):
                frozen = {"plan": plan.model_dump_json(), "registration": digest}
                db["studies"].update(study, {**frozen, "registered_at": time.time()})
        return digest

    def record(self, study: str, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Store the outcome of a registered rule once; return what is stored.

        A second payload of the same kind changes nothing: the first one is returned.
        """
        row = {"study": study, "kind": kind, "payload": dict(payload), "recorded_at": time.time()}
        with self._writing(study) as db:
            db["records"].insert(row, ignore=True)
            stored = db["records"].get((study, kind))
        return dict(json.loads(stored["payload"]))

    def add_event(self, study: str, kind: str, *, once: str = "", **detail: Any) -> bool:
        """Note what happened. With `once`, a second event of that kind and key is left out.

        Returns whether the event was added.
        """
        row = {"study": study, "time": time.time(), "kind": kind, "once": once, "detail": detail}
        with self._writing(study) as db:
            before = db.conn.total_changes
            db["events"].insert(row, ignore=True)
            return bool(db.conn.total_changes > before)

    def spend(self, study: str, seconds: float) -> None:
        """Add wall seconds to what the study has used."""
        with self._writing(study) as db:
            db.execute("UPDATE studies SET spent = spent + ? WHERE id = ?", (seconds, study))

    def save_verdicts(self, study: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace the study's verdicts; each row names its `hypothesis`."""
        with self._writing(study) as db:
            db["verdicts"].delete_where("study = ?", (study,))
            db["verdicts"].insert_all(
                {"study": study, "hypothesis": row["hypothesis"], "row": dict(row)} for row in rows
            )

    def add_finding(
        self, study: str, hypothesis: str, text: str, detail: Mapping[str, Any]
    ) -> None:
        """Keep a verdict for later studies, once per hypothesis; `text` is what is searched."""
        row = {
            "study": study,
            "hypothesis": hypothesis,
            "text": text,
            "detail": dict(detail),
            "found_at": time.time(),
        }
        with self._writing(study) as db:
            db["findings"].insert(row, ignore=True)

    # Writing: trials

    def insert_trials(self, specs: Sequence[TrialSpec]) -> None:
        """Insert the trials of one study that are not there yet, as pending."""
        if not specs:
            return
        with self._writing(specs[0].study) as db:
            db["trials"].insert_all(
                (
                    {
                        "study": spec.study,
                        "id": spec.id,
                        "phase": spec.phase,
                        "spec": spec.model_dump_json(),
                        "status": "pending",
                    }
                    for spec in specs
                ),
                ignore=True,
            )

    def start_attempt(self, study: str, trial: str) -> AttemptFacts:
        """Open the trial's next attempt, before it is submitted; the trial runs from now on."""
        now = time.time()
        with self._writing(study) as db:
            number = 1 + db["attempts"].count_where("study = ? AND trial = ?", (study, trial))
            key = {"study": study, "trial": trial, "number": number}
            db["attempts"].insert({**key, "status": "running", "started_at": now})
            db["trials"].update((study, trial), {"status": "running"})
        folder = self._home.attempt(study, trial, number)
        return AttemptFacts(number=number, folder=folder, status="running", started_at=now)

    def end_attempt(
        self, study: str, trial: str, attempt: AttemptFacts, trial_status: TrialStatus
    ) -> None:
        """Store how an attempt ended, and the status of its trial from then on."""
        with self._writing(study) as db:
            db["attempts"].update(
                (study, trial, attempt.number),
                {name: getattr(attempt, name) for name in _ENDING} | {"ended_at": time.time()},
            )
            db["trials"].update((study, trial), {"status": trial_status})

    @contextmanager
    def _writing(self, study: str) -> Iterator["Database"]:
        """One transaction under the study's lease. Raises Leased when another took it."""
        from sqlite_utils import Database  # imports pandas where it is installed: half a second

        if study not in self._tokens:
            raise RuntimeError(f"write on study {study!r} outside `with ledger.hold(...)`")
        with lease.immediate(self._db):
            lease.check(self._db, study, self._tokens[study])
            self._facts.pop(study, None)
            yield Database(self._db)

    def _refuse_change(self, study: str, plan: Plan) -> bool:
        """Whether the plan is registered. Raises Refusal when a different one is."""
        frozen = ledger_rows.study_row(self._db, study)["registration"]
        if frozen is not None and frozen != plan.digest():
            raise Refusal(
                "plan",
                f"study {study} is registered as {frozen[:12]} and can no longer change",
                "start a new study",
            )
        return frozen is not None
