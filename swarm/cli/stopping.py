"""SIGTERM and Ctrl-C as requests: a run is saved at its next step."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Stop = Callable[[], str | None]


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Yield what names the signal that came, if one did. A second one interrupts at once."""
    received: list[str] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signal.Signals(number).name)
        os.write(2, f"{received[0]}: saving after this step; again to leave at once\n".encode())

    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, receive) for number in numbers}
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
