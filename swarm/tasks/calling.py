"""The user's code runs here: what it prints goes to stderr, and how long it may take is bounded."""

import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType, ModuleType

#: Seconds after which a line says what is waited for.
SPEAKS_AFTER = 20.0

#: Seconds between two attempts to end a call that does not let itself be ended.
_AGAIN = 1.0

#: Seconds after its limit at which a call that nothing can end, because it holds the interpreter or
#: whatever is raised in it, ends the process.
_LAST = 60.0

#: A signal that profilers alone use. SIGALRM is left to the user's code: math_verify needs it.
_SIGNAL, _TIMER = signal.SIGPROF, signal.ITIMER_PROF


class Overdue(Exception):
    """A call of the user's code did not end within `limit` seconds."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"did not end within {limit:g} s")
        self.limit = limit


class _Stop(BaseException):
    """Raised within a call that is overdue; no `except Exception` holds it."""


@contextmanager
def users_code(what: str, limit: float) -> Iterator[None]:
    """Run the user's code in this block. Raises Overdue once it took more than `limit` seconds.

    What it prints goes to stderr: stdout is for results. A line there says after `SPEAKS_AFTER`
    seconds that `what` is waited for. A signal ends it, on the main thread alone; that reaches it
    in a sleep, in Python and in a regular expression, which gives no other thread a chance. What
    nothing reaches ends the process a minute later, with the lines that it is at.
    """
    main = threading.main_thread()
    call = _Call(what, limit, main.ident if threading.current_thread() is main else None)
    with redirect_stdout(sys.stderr), call.watched():
        yield


def users_module(path: Path, source: bytes, name: str) -> ModuleType:
    """The user's file as a module: what was read of it, and nothing is left beside it, bytecode
    neither. Raises whatever the file raises."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # where dataclasses and pickle look up what it defines
    exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
    return module


class _Call:
    """One call, and the thread that looks at the clock meanwhile."""

    def __init__(self, what: str, limit: float, thread: int | None) -> None:
        self._what = what
        self._limit = limit
        self._thread = thread
        self._deadline = time.monotonic() + limit
        self._ended = threading.Event()
        self._over = self._stopped = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        clock = threading.Thread(target=self._watch, daemon=True)
        before = signal.signal(_SIGNAL, self._receive) if self._thread else None
        if self._thread:  # processor time, for what holds the interpreter
            signal.setitimer(_TIMER, self._limit, _AGAIN)
        clock.start()
        faulthandler.dump_traceback_later(self._limit + _LAST, exit=True, file=2)
        try:
            try:
                yield
            finally:
                self._over = True
        except _Stop:
            pass
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._ended.set()
            clock.join()
            if self._thread:
                signal.setitimer(_TIMER, 0)
                signal.signal(_SIGNAL, before)
        if self._stopped:  # also where the code held what was raised in it
            raise Overdue(self._limit)

    def _watch(self) -> None:
        if self._ended.wait(min(SPEAKS_AFTER, self._limit)):
            return
        if self._limit > SPEAKS_AFTER:
            sys.stderr.write(
                f"{self._what} has run for {SPEAKS_AFTER:g} s, of at most {self._limit:g} s\n"
            )
        pause = self._deadline - time.monotonic()
        while not self._ended.wait(max(0.0, pause)):
            if self._thread:
                signal.pthread_kill(self._thread, _SIGNAL)
            pause = _AGAIN

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if not self._over and time.monotonic() >= self._deadline:
            self._stopped = True
            raise _Stop
