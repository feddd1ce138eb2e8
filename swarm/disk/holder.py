"""Who holds a thing that one process at a time may write, and whether that process still lives.

What a process holds is its own until it gives it back or ends. One that ended on this host is seen
at once; one that cannot be looked up from here is taken for dead when its heartbeat, renewed every
`BEAT` seconds, has been silent for `SILENCE`.
"""

import os
import platform
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

BEAT = 10.0
SILENCE = 60.0


@contextmanager
def beating(beat: Callable[[], None], name: str) -> Iterator[None]:
    """Call `beat` every `BEAT` seconds from a thread of its own. One may fail: SILENCE is six."""
    stop = threading.Event()

    def renew() -> None:
        while not stop.wait(BEAT):
            beat()

    thread = threading.Thread(target=renew, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@dataclass(frozen=True)
class Holder:
    """A process, told apart from any other that ever had its pid.

    `boot` is the kernel's boot id, `space` the pid namespace in which `pid` can be looked up,
    `started` the start time in clock ticks since boot. Where there is no /proc (macOS) they are
    empty: psutil's start times move when the clock is set, so there a pid that was given to
    another process is told apart by the silent heartbeat alone.
    """

    host: str
    boot: str
    space: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> "Holder":
        pid, boot = os.getpid(), _boot()
        # Without a boot id two hosts of one name are told apart by their network card.
        host = platform.node() if boot else f"{platform.node()} {uuid.getnode():012x}"
        return cls(host, boot, _pid_space(), pid, _started(pid))

    def is_dead(self, seen_from: "Holder") -> bool:
        """Whether this process is known to have ended, as far as `seen_from` can look."""
        if not self.boot and not seen_from.boot:
            here = (self.host, self.space) == (seen_from.host, seen_from.space)
            return here and _is_gone(self.pid)
        if not (self.boot and seen_from.boot):
            return False
        if self.boot != seen_from.boot:
            return self.host == seen_from.host  # the host was booted since
        return self.space == seen_from.space and _started(self.pid) != self.started

    def is_visible(self, seen_from: "Holder") -> bool:
        """Whether `is_dead` would notice this process's end, even if its pid were given anew."""
        return bool(self.boot) and (self.boot, self.space) == (seen_from.boot, seen_from.space)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _pid_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot; empty when it is gone or a zombie."""
    try:
        # The command's name stands in brackets and may hold spaces and brackets itself.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _is_gone(pid: int) -> bool:
    """Whether no process of this host has the pid, or a zombie."""
    try:
        status: str = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return True
    return status == str(psutil.STATUS_ZOMBIE)
