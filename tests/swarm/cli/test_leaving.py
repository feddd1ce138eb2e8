"""A process ends, whatever threads and code of the user's do."""

import subprocess
import sys
import time

import pytest

HEAD = """
import signal, sys, threading, time, typer
signal.signal(signal.SIGINT, signal.default_int_handler)
from concurrent.futures import ThreadPoolExecutor
from swarm.cli import leaving, main
leaving.GRACE = 1.0
app = typer.Typer(name="app")
@app.command()
def command() -> None:
    print("result")
"""

HOLDS = """
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    while True:
        try:
            time.sleep(0.05)
        except BaseException:
            pass
"""


def ends(body: str) -> tuple[int, str, str]:
    began = time.monotonic()
    words = [sys.executable, "-c", f"{HEAD}{body}\nmain.run(app)\n"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert time.monotonic() - began < 30
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("last", "code"), [("", 0), ("    raise typer.Exit(3)", 3)])
def test_a_thread_that_goes_on_does_not_keep_it(last: str, code: int) -> None:
    thread = "    threading.Thread(target=time.sleep, args=(90,), name='mine').start()\n"
    said = "did not wait more than 1 s for the thread mine\n"
    assert ends(thread + last) == (code, "result\n", said)


def test_what_ends_by_itself_is_waited_for() -> None:
    pool = "    ThreadPoolExecutor(1).submit(len, 'a').result()\n"
    late = "    threading.Timer(0.3, lambda: print('late')).start()\n"
    assert ends(pool + late) == (0, "result\nlate\n", "")


def test_code_that_holds_an_interrupt_ends_all_the_same() -> None:
    said = "error: interrupted; the code that ran did not let itself be ended\n"
    assert ends(HOLDS) == (130, "result\n", said)
