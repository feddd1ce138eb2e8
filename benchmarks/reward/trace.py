"""Writes a run's curve down as it trains."""

import os
import resource
import time

from benchmarks.harness import Payload
from benchmarks.reward.curve import Curve


class Trace:
    """The training clock of one run. `spawned` is its process's start by the monotonic clock.

    `start` and `step` are called as soon as training starts and as a step ends, `resume` when
    training goes on: what lies between, and what is said to be `paused`, is not training time.
    """

    def __init__(self, spawned: float) -> None:
        self._spawned = spawned
        self._startup = 0.0
        self._training = 0.0
        self._since = 0.0
        self._cpu_since = 0.0
        self._clock: list[float] = []
        self._cpu: list[float] = []
        self._evaluated: list[tuple[int, float]] = []
        self.rewards: list[float] = []

    def start(self, paused: float = 0.0) -> None:
        """The process is up. `paused` seconds of that went into an evaluation."""
        self._startup = time.monotonic() - self._spawned - paused

    def step(self, paused: float = 0.0) -> None:
        """A step has ended, `paused` seconds of it in an evaluation."""
        self._training += time.monotonic() - self._since - paused
        self._clock.append(self._training)
        if not paused:
            self._cpu.append(time.process_time() - self._cpu_since)

    def evaluated(self, accuracy: float) -> None:
        """The policy after the last step has this held-out accuracy."""
        self._evaluated.append((len(self._clock), accuracy))

    def resume(self) -> None:
        self._since, self._cpu_since = time.monotonic(), time.process_time()

    def curve(self) -> Curve:
        return Curve(
            self._startup,
            tuple(self._clock),
            tuple(self.rewards),
            tuple(self._evaluated),
            tuple(self._cpu),
        )


def reply(curve: Curve) -> Payload:
    """A worker's answer: the curve, and what the machine saw of it."""
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**curve.to_json(), "peak_rss_mb": peak_kb / 1024, "load": os.getloadavg()[0]}
