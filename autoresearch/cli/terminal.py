"""Who may write to the user's terminal: this program, and nothing that it imports."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console


@contextmanager
def noise_to(log: Path) -> Iterator[TextIO]:
    """Send file descriptors 1 and 2 to `log`; yield a stream that still reaches the real stdout.

    At the level of descriptors, so that Ray's daemons, C libraries and `print` all land in the
    log. The stream's own descriptor is not inherited by child processes.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        file = stack.enter_context(log.open("a", encoding="utf-8"))
        encoding = sys.stdout.encoding
        saved = {number: os.dup(number) for number in (1, 2)}
        real = stack.enter_context(
            os.fdopen(os.dup(saved[1]), "w", encoding=encoding, errors="replace", buffering=1)
        )
        _flush()
        for number in saved:
            os.dup2(file.fileno(), number)
        try:
            yield real
        finally:
            _flush()
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)


class RealConsole(Console):
    """A console on the stream that `noise_to` yields.

    Rich asks descriptors 0, 1 and 2 for the size, of which two are now the log.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=stream, highlight=False)
        self._stream = stream

    def fit(self) -> None:
        """Take the size that the terminal has now; nothing happens where there is none."""
        if self._stream.isatty():
            self.size = os.get_terminal_size(self._stream.fileno())


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
