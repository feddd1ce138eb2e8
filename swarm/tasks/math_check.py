"""Mathematics compared by math-verify, in a process of its own.

What a policy writes may take sympy forever, or all memory (`9^{9^{9^9}}`), within C code that no
signal reaches, and math-verify's own time limit needs the main thread. A child process can be
ended from any thread, and takes nothing with it.
"""

import json
import select
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

from swarm.errors import InfrastructureError

#: Seconds for one comparison; what takes longer is not equal.
LIMIT = 10.0

#: Run as a file: the package would take a second to import.
_CHILD = Path(__file__).with_name("math_child.py")

#: Bytes of memory that the child may have.
MEMORY = 4 * 2**30


def same_mathematics(answer: str, completion: str) -> bool:
    """Whether the result that a completion ends on equals `answer`, both LaTeX or plain. Raises
    InfrastructureError where math-verify cannot be started."""
    return _comparer().same(answer, completion)


class Comparer:
    """The child, started with the first comparison and again after one that it did not survive."""

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._child: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def same(self, answer: str, completion: str) -> bool:
        with self._lock:
            line = self._asked(answer, completion)
            if line is None:  # not its own end: once more
                line = self._asked(answer, completion)
            return line == "true\n"

    def _asked(self, answer: str, completion: str) -> str | None:
        """The child's line, empty for what it did not survive; None where someone killed it."""
        child = self._child = self._child or _started()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps([answer, completion]) + "\n")
            child.stdin.flush()
            ready, _, _ = select.select([child.stdout], [], [], self._limit)
            line = child.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = [child.stdout], ""
        if line:
            return line
        killed = bool(ready) and child.wait() == -signal.SIGKILL
        self._end()
        return None if killed else ""

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None


@cache
def _comparer() -> Comparer:
    return Comparer()


def _started() -> "subprocess.Popen[str]":
    """A child that has imported math-verify. It ends with the pipe to it, or by the kernel after so
    many seconds of processor time on one comparison."""
    child = subprocess.Popen(
        [sys.executable, "-P", str(_CHILD), str(int(LIMIT) + 1), str(MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert child.stdout is not None
    if child.stdout.readline() != "ready\n":
        child.kill()
        raise InfrastructureError(
            "task.reward: math-verify cannot be started; pip install 'math-verify[antlr4_13_2]'"
        )
    return child
