"""What every benchmark shares: variants in processes of their own, fair order, honest intervals.

Each variant under comparison lives in one long-lived process, so that neither gradients nor
compiled code nor allocator state is shared, and runs one step when asked. `abba` interleaves the
variants, forward then backward, so that a drift of the machine falls on all alike. An idle worker
blocks on a pipe and costs nothing. The last line a benchmark prints is one JSON object (`emit`).
"""

import contextlib
import json
import os
import platform
import resource
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

Payload = dict[str, Any]

RESULTS = Path(__file__).parent / "results"
#: Resamples behind an interval.
BOOTSTRAPS = 10_000


class WorkerError(RuntimeError):
    """A worker died, failed a request, or did not answer in time."""


@dataclass(frozen=True)
class Sample:
    """One timed step. `order` counts steps over all variants; steps of one `round` are paired.
    `peak_rss_mb` is the process's peak so far."""

    variant: str
    case: str
    round: int
    order: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    load: float


@dataclass(frozen=True)
class Summary:
    """Median and interquartile range of a list of figures."""

    median: float
    iqr: float
    count: int


@dataclass(frozen=True)
class Ratio:
    """How many times longer the baseline takes, with a 95 % interval."""

    value: float
    low: float
    high: float


class Worker:
    """A process that runs `python -m module *args`, which must call `serve`.

    Use as a context manager; it is ended on leaving. Raises WorkerError from `ask`.
    """

    def __init__(self, module: str, args: Sequence[str] = (), threads: int = 2) -> None:
        self.module = module
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        env = os.environ | {"OMP_NUM_THREADS": str(threads), "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=env,
        )
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, payload: Payload, timeout_s: float = 600) -> Payload:
        """Send a request and wait for its reply."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(payload).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None
        reply: Payload = json.loads(self._line(timeout_s))
        if "error" in reply:
            raise WorkerError(f"{self.module} failed on {payload}:\n{reply['error']}")
        return reply

    def close(self) -> None:
        """End the process; it gets 10 s to leave by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it may be dead already
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not ready.select(max(0.0, deadline - time.monotonic())):
                    raise WorkerError(f"{self.module} did not answer within {timeout_s:g} s")
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise self._death()
                self._unread += chunk
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def _death(self) -> WorkerError:
        status = self._process.wait()
        self._log.seek(0)
        tail = self._log.read().decode(errors="replace")[-2000:]
        return WorkerError(f"{self.module} ended with status {status}; its last words:\n{tail}")


def serve(handler: Callable[[Payload], Payload]) -> None:
    """Answer requests on stdin until it is closed. What libraries print goes to stderr, so that it
    cannot mix with replies. A handler that raises answers with its error and stays."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            reply = handler(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def timed(step: Callable[[], object]) -> Payload:
    """Run a step in this process; the reply that `abba` expects."""
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall_s": wall,
        "cpu_s": cpu,
        "peak_rss_mb": peak_kb / 1024,
        "load": os.getloadavg()[0],
    }


def abba_order(names: Sequence[str], rounds: int) -> list[tuple[int, str]]:
    """(round, name) of every step: each round runs each variant once, odd rounds backwards."""
    return [(r, n) for r in range(rounds) for n in (names if r % 2 == 0 else names[::-1])]


def abba(
    workers: Mapping[str, Worker],
    case: str,
    payload: Payload,
    rounds: int,
    warmup: int = 2,
    timeout_s: float = 600,
) -> list[Sample]:
    """Ask every worker for a step `warmup` + `rounds` times in ABBA order; warm-ups are dropped.

    Each reply must hold what `timed` returns. The payload carries `case` too. Progress: stderr.
    """
    samples = []
    for order, (index, name) in enumerate(abba_order(list(workers), warmup + rounds)):
        reply = workers[name].ask(payload | {"case": case}, timeout_s)
        print(f"{case} {name} {reply['wall_s']:.2f} s", file=sys.stderr, flush=True)
        measured = {key: float(reply[key]) for key in ("wall_s", "cpu_s", "peak_rss_mb", "load")}
        if index >= warmup:
            samples.append(Sample(name, case, index, order, **measured))
    return samples


def summary(values: Sequence[float]) -> Summary:
    """Median and IQR. Raises ValueError if there are none."""
    if not values:
        raise ValueError("no samples to summarise")
    low, high = np.percentile(values, [25, 75])
    return Summary(statistics.median(values), float(high - low), len(values))


def walls(samples: Iterable[Sample], variant: str, case: str) -> list[float]:
    """Wall seconds of a variant in a case, by round."""
    mine = [s for s in samples if (s.variant, s.case) == (variant, case)]
    return [s.wall_s for s in sorted(mine, key=lambda s: s.round)]


def ratio(baseline: Sequence[float], ours: Sequence[float], seed: int = 0) -> Ratio:
    """Ratio of medians, and a percentile bootstrap over rounds: both lists are by round, and a
    round is drawn as a pair. Raises ValueError unless they are of equal length, at least 1."""
    if len(baseline) != len(ours) or not baseline:
        raise ValueError("a ratio needs the same rounds of both variants")
    pairs = np.array([baseline, ours], np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(ours), (BOOTSTRAPS, len(ours)))
    medians = np.median(pairs[:, drawn], axis=2)
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    return Ratio(float(np.median(pairs[0]) / np.median(pairs[1])), float(low), float(high))


def machine() -> Payload:
    """What the figures depend on: processor, memory, system, and versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = [line.split(":", 1) for line in lines if ":" in line]
    info = {key.strip(): value.strip() for key, value in fields}
    flags = set(info.get("flags", "").split())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": info.get("model name", platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "cpu_flags": sorted(flags & {"avx2", "avx512f", "avx512_bf16", "amx_tile"}),
        "memory_gb": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers", "peft", "trl")},
        "load": os.getloadavg()[0],
    }


def record(name: str, samples: Sequence[Sample], folder: Path = RESULTS) -> Path:
    """Write raw samples to `<folder>/<name>.jsonl`, one JSON object a sample; returns the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(asdict(s)) + "\n" for s in samples))
    return path


def show(samples: Sequence[Sample]) -> None:
    """Print a table: one row a case and variant."""
    print(
        f"{'case':<16}{'variant':<16}{'n':>4}{'median s':>11}{'IQR s':>9}{'CPU s':>9}{'RSS MB':>9}"
    )
    for case, variant in Counter((s.case, s.variant) for s in samples):
        mine = [s for s in samples if (s.case, s.variant) == (case, variant)]
        wall = summary([s.wall_s for s in mine])
        cpu = summary([s.cpu_s for s in mine]).median
        peak = max(s.peak_rss_mb for s in mine)
        print(
            f"{case:<16}{variant:<16}{wall.count:>4}{wall.median:>11.3f}{wall.iqr:>9.3f}"
            f"{cpu:>9.2f}{peak:>9.0f}"
        )


def emit(result: Payload) -> None:
    """Print the benchmark's keys and the machine's facts as the last line."""
    print(json.dumps(result | {"machine": machine()}), flush=True)
