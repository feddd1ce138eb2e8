"""Requests to stop: a signal, or a file that another command wrote."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from autoresearch.study.endings import Paused


class StopRequests:
    """Remembers a signal until someone asks."""

    def __init__(self, flag: Path) -> None:
        self._flag = flag
        self._signal: str | None = None

    def check(self) -> None:
        """Raise Paused if someone asked to stop. The flag file's text, if any, is the reason."""
        if self._signal is not None:
            raise Paused(f"received {self._signal}")
        if self._flag.exists():
            raise Paused(self._flag.read_text().strip() or "on request")

    def receive(self, number: int, frame: FrameType | None) -> None:
        """A signal handler. The second signal interrupts at once, wherever the program is."""
        if self._signal is not None:
            raise KeyboardInterrupt
        self._signal = signal.Signals(number).name


@contextmanager
def stop_requests(flag: Path) -> Iterator[StopRequests]:
    """Within the block, SIGINT and SIGTERM are requests like the flag file.

    Python delivers signals to the main thread only; on another thread just the file counts.
    """
    requests = StopRequests(flag)
    if threading.current_thread() is not threading.main_thread():
        yield requests
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, requests.receive) for number in numbers}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
