"""Requests to stop, from a signal or a file."""

import os
import signal
import threading
from pathlib import Path

import pytest

from autoresearch.execute.stop import stop_requests
from autoresearch.study.endings import Paused


def test_without_a_request_nothing_happens(tmp_path: Path) -> None:
    with stop_requests(tmp_path / "pause") as stop:
        stop.check()


def test_the_second_signal_interrupts_at_once(tmp_path: Path) -> None:
    with stop_requests(tmp_path / "pause") as stop:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Paused, match="received SIGINT"):
            stop.check()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_on_another_thread_the_file_still_counts(tmp_path: Path) -> None:
    reasons = []

    def work() -> None:
        with stop_requests(tmp_path / "pause") as stop:
            stop.check()
            (tmp_path / "pause").touch()
            try:
                stop.check()
            except Paused as paused:
                reasons.append(paused.reason)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reasons == ["on request"]
