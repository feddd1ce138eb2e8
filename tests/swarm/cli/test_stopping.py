"""Signals are requests, until the second."""

import os
import signal
import threading

import pytest

from swarm.cli.stopping import stop_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_is_remembered_and_the_second_interrupts(
    number: signal.Signals, capfd: pytest.CaptureFixture
) -> None:
    before = signal.getsignal(number)
    with stop_signals() as stop:
        assert stop() is None
        os.kill(os.getpid(), number)
        assert stop() == number.name
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
    said = f"{number.name}: saving after this step; again to leave at once\n"
    assert capfd.readouterr().err == said


def test_another_thread_hears_none() -> None:
    heard = []

    def run() -> None:
        with stop_signals() as stop:
            heard.append(stop())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert heard == [None]
