"""The user's code is bounded in time, and its prints are apart."""

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm.tasks import calling
from swarm.tasks.calling import Overdue, users_code, users_module

LIMIT = 0.2


def sleeps() -> None:
    time.sleep(60)


def computes() -> None:
    while True:
        pass


def backtracks() -> None:
    """Holds the interpreter all along, so that no other thread can do anything."""
    re.match(r"(a+)+$", "a" * 40 + "b")


def holds_on() -> None:
    try:
        time.sleep(60)
    except BaseException:  # what is raised in it is not what ends it
        return


def waits_again_and_again() -> None:
    while True:
        try:
            time.sleep(60)
        except BaseException:
            if time.monotonic() > started + LIMIT + 1:
                raise


started = 0.0


@pytest.mark.parametrize("code", [sleeps, computes, backtracks, holds_on, waits_again_and_again])
def test_it_is_ended(code: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    monkeypatch.setitem(globals(), "started", began)
    with pytest.raises(Overdue, match=r"did not end within 0\.2 s"), users_code("x", LIMIT):
        code()
    assert time.monotonic() - began < 10


def test_nothing_is_left_behind() -> None:
    before, threads = signal.getsignal(signal.SIGPROF), threading.active_count()
    with users_code("x", 60):
        assert signal.getsignal(signal.SIGPROF) is not before
    with pytest.raises(ValueError, match="mine"), users_code("x", 60):
        raise ValueError("mine")
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert threading.active_count() == threads


def test_an_alarm_clock_of_its_own_works() -> None:
    """As math_verify bounds its parsing."""
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append("alarm"))
    timer = signal.getitimer(signal.ITIMER_REAL)
    try:
        with users_code("x", 60):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            while not heard:
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)
    assert heard == ["alarm"]


def test_it_says_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(calling, "SPEAKS_AFTER", 0.05)
    with users_code("reward in mine.py on row 3", 60):
        sys.stdout.write("from the code\n")
        time.sleep(0.5)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "from the code",
        "reward in mine.py on row 3 has run for 0.05 s, of at most 60 s",
    ]


def test_another_thread_may_use_it(capsys: pytest.CaptureFixture) -> None:
    def run() -> None:
        with users_code("x", 60):
            sys.stdout.write("there\n")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == "there\n"


def test_the_users_module_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    file.write_text("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 3\n")
    module = users_module(file, file.read_bytes(), "own_x")
    assert (module.A().x, module.__file__) == (3, str(file))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.parametrize("code", ["sum(range(10**12))", "swallow()"])
def test_what_nothing_reaches_ends_the_process(code: str) -> None:
    """It holds the interpreter, or whatever is raised in it."""
    program = (
        "import time\n"
        "from swarm.tasks import calling\n"
        "calling._LAST = 0.5\n"
        "def swallow():\n"
        "    while True:\n"
        "        try:\n"
        "            time.sleep(0.05)\n"
        "        except BaseException:\n"
        "            pass\n"
        f"with calling.users_code('x', 0.2):\n    {code}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "Timeout (0:00:00.7" in done.stderr
