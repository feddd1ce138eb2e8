"""SIGTERM, SIGHUP and Ctrl-C as requests: a run is saved at its next step, other commands end."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Stop = Callable[[], str | None]


class Signalled(BaseException):
    """A signal that ends a command which has nothing to save."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.name = signal.Signals(number).name


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise Signalled within the block, unless someone takes care of them."""

    def receive(number: int, frame: FrameType | None) -> None:
        raise Signalled(number)

    taken = []
    if threading.current_thread() is threading.main_thread():
        both = (signal.SIGTERM, signal.SIGHUP)
        taken = [n for n in both if signal.getsignal(n) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, receive)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Yield what names the signal that came, if one did. A second one interrupts at once."""
    received: list[str] = []
    interrupt = signal.getsignal(signal.SIGINT)

    def receive(number: int, frame: FrameType | None) -> None:
        if received and callable(interrupt):
            interrupt(number, frame)
        if received:
            raise KeyboardInterrupt
        received.append(signal.Signals(number).name)
        os.write(2, f"{received[0]}: saving after this step; again to leave at once\n".encode())

    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` has it
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, receive) for number in numbers}
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
