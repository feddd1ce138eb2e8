"""One driver a study: the second writes nothing, a dead one is replaced, a stale one is fenced."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.study import database, lease
from autoresearch.study.endings import Leased
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger

HOLD = """
import sys, time
from pathlib import Path
from autoresearch.study.ledger import Ledger
from autoresearch.study.home import Home
ledger = Ledger.open(Home(Path(sys.argv[1])))
with ledger.hold("s1"):
    ledger.create_study("s1", "topic", {})
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def holder(home: Home):
    """A process that holds the study s1."""
    command = [sys.executable, "-c", HOLD, str(home.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_the_second_holder_is_refused_and_writes_nothing(home: Home, holder) -> None:
    before = Ledger.open(home).facts("s1")
    ledger = Ledger.open(home)
    with pytest.raises(Leased, match=f"process {holder.pid}"), ledger.hold("s1"):
        ledger.set_stage("s1", "done")
    assert Ledger.open(home).facts("s1") == before
    with ledger.hold("s2"):
        pass


def test_a_killed_holder_is_replaced_at_once(home: Home, holder) -> None:
    holder.send_signal(signal.SIGKILL)
    # Not yet waited for: a zombie counts as dead.
    while psutil.Process(holder.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    ledger = Ledger.open(home)
    with ledger.hold("s1"):
        ledger.set_stage("s1", "pilot")
    assert ledger.facts("s1").stage == "pilot"


def test_a_stopped_holder_keeps_its_lease(home: Home, holder) -> None:
    holder.send_signal(signal.SIGSTOP)
    with pytest.raises(Leased), Ledger.open(home).hold("s1"):
        pass


def test_a_stale_token_cannot_write(home: Home) -> None:
    old = Ledger.open(home)
    with old.hold("s1"):
        old.create_study("s1", "topic", {})
        schema_db = database.connect(home.ledger_file)
        schema_db.execute("UPDATE leases SET pid = NULL")  # as if it had been declared dead
        new = Ledger.open(home)
        with new.hold("s1"):
            for write in (
                lambda: old.set_stage("s1", "done"),
                lambda: old.record("s1", "size", {"n": 1}),
                lambda: old.spend("s1", 100.0),
            ):
                with pytest.raises(Leased):
                    write()
            new.set_stage("s1", "pilot")
        with pytest.raises(Leased):
            old.add_event("s1", "late")
    facts = Ledger.open(home).facts("s1")
    assert (facts.stage, facts.records, facts.events) == ("pilot", {}, ())


def test_a_lease_is_given_back(home: Home) -> None:
    for _ in range(3):
        with Ledger.open(home).hold("s1"):
            pass
    token = database.connect(home.ledger_file).execute("SELECT token FROM leases").fetchone()[0]
    assert token == 3


def _db(home: Home):
    database.create(home.ledger_file)
    return database.connect(home.ledger_file)


def test_a_holder_elsewhere_is_replaced_only_after_silence(home: Home) -> None:
    db, me = _db(home), lease.Holder.current()
    there = replace(me, host="elsewhere", boot="another-boot")
    lease.acquire(db, "s1", there, now=1000.0)
    with pytest.raises(Leased, match="elsewhere"):
        lease.acquire(db, "s1", me, now=1000.0 + lease.SILENCE - 1)
    assert lease.acquire(db, "s1", me, now=1000.0 + lease.SILENCE + 1) == 2


def test_a_holder_here_is_never_replaced_for_silence(home: Home) -> None:
    db, me = _db(home), lease.Holder.current()
    lease.acquire(db, "s1", me, now=1000.0)
    with pytest.raises(Leased):
        lease.acquire(db, "s1", me, now=1e9)


class TestWithoutProc:
    """Of a system without /proc: neither boot id nor start time is known."""

    def here(self, pid: int) -> lease.Holder:
        return replace(lease.Holder.current(), boot="", space="", pid=pid, started="")

    def test_a_killed_holder_is_replaced_at_once(self, home: Home, holder) -> None:
        me, there = self.here(os.getpid()), self.here(holder.pid)
        assert not there.is_dead(me)
        assert not replace(there, host="elsewhere").is_dead(me)
        holder.send_signal(signal.SIGKILL)
        while not there.is_dead(me):  # not yet waited for: a zombie counts as dead
            pass
        holder.wait()
        assert there.is_dead(me)
        assert not replace(there, host="elsewhere").is_dead(me)

    def test_a_living_pid_is_replaced_only_after_silence(self, home: Home) -> None:
        db, me = _db(home), self.here(os.getpid())
        lease.acquire(db, "s1", me, now=1000.0)
        with pytest.raises(Leased):
            lease.acquire(db, "s1", me, now=1000.0 + lease.SILENCE - 1)
        assert lease.acquire(db, "s1", me, now=1000.0 + lease.SILENCE + 1) == 2


@given(st.lists(st.sampled_from(["acquire", "release"]), max_size=12))
def test_tokens_only_grow(actions: list[str]) -> None:
    db = database.connect(Path("/nonexistent"))  # in memory
    me, tokens = lease.Holder.current(), [0]
    for action in actions:
        if action == "release":
            lease.release(db, "s1", tokens[-1])
            continue
        try:
            tokens.append(lease.acquire(db, "s1", me, now=0.0))
        except Leased:
            lease.check(db, "s1", tokens[-1])
    assert tokens == sorted(set(tokens))


def test_the_heartbeat_beats(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarm.disk.holder.BEAT", 0.02)
    with Ledger.open(home).hold("s1"):
        db = database.connect(home.ledger_file)
        beats = set()
        while len(beats) < 3:
            beats.add(db.execute("SELECT heartbeat FROM leases").fetchone()[0])


def test_a_new_ledger_can_be_created_by_many_at_once(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(database.create, [home.ledger_file] * 8))
    assert (
        database.connect(home.ledger_file).execute("SELECT count(*) FROM studies").fetchone()[0]
        == 0
    )
