"""The end of a process is bounded, whatever code of the user's still runs in it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

#: Seconds that threads, or code that does not let itself be interrupted, are waited for.
GRACE = 10.0

INTERRUPTED = 130


def leave(code: int, known: set[threading.Thread]) -> NoReturn:
    """Exit with `code`, without waiting more than `GRACE` seconds for threads that are not
    `known`; Python would wait for ever for one that is no daemon."""
    if left := _started(known):
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
        threading.Thread(target=_cut, args=(left, code), daemon=True).start()
    sys.exit(code)


@contextmanager
def interrupts_end_it() -> Iterator[None]:
    """Within the block Ctrl-C is a KeyboardInterrupt, as ever; where the code that runs holds it,
    the process ends `GRACE` seconds later all the same."""
    before = signal.getsignal(signal.SIGINT)
    taken = (
        threading.current_thread() is threading.main_thread()
        and before is signal.default_int_handler
    )
    ended = threading.Event()

    def receive(number: int, frame: object) -> NoReturn:
        threading.Thread(target=_end_unless, args=(ended,), daemon=True).start()
        raise KeyboardInterrupt

    if taken:
        signal.signal(signal.SIGINT, receive)
    try:
        yield
    finally:
        ended.set()
        if taken:
            signal.signal(signal.SIGINT, before)


def _started(known: set[threading.Thread]) -> list[threading.Thread]:
    """The threads that Python waits for at its end."""
    return [t for t in threading.enumerate() if t not in known and not t.daemon]


def _cut(left: list[threading.Thread], code: int) -> None:
    """Idle workers of a pool end once the main thread has."""
    threading.main_thread().join()
    deadline = time.monotonic() + GRACE
    for thread in left:
        thread.join(max(0.0, deadline - time.monotonic()))
    if still := [thread.name for thread in left if thread.is_alive()]:
        _write(f"did not wait more than {GRACE:g} s for the thread {still[0]}\n")
        os._exit(code)


def _end_unless(ended: threading.Event) -> None:
    if not ended.wait(GRACE):
        _write("error: interrupted; the code that ran did not let itself be ended\n")
        os._exit(INTERRUPTED)


def _write(line: str) -> None:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, line.encode())
