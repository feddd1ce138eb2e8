"""One run of the recipe by swarm, as `swarm train` runs it."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.harness import Payload, serve
from benchmarks.reward.curve import Curve
from benchmarks.reward.recipe import config_for
from swarm.train import train


def run(seed: int, steps: int, spawned: float) -> Curve:
    """Train; `spawned` is this process's start by the monotonic clock."""
    clock: list[float] = []
    rewards: list[float] = []
    evaluated: list[tuple[int, float]] = []
    began = startup = paused = 0.0

    def on_step(step: int, values: Mapping[str, float]) -> None:
        nonlocal began, startup, paused
        now = time.monotonic()
        evaluation = values.get("time/eval", 0.0)
        if "eval/acc" in values:
            evaluated.append((step, values["eval/acc"]))
        if step == 0:
            began, startup = now, now - evaluation - spawned
            return
        paused += evaluation
        clock.append(now - began - paused)
        rewards.append(values["reward/mean"])

    with tempfile.TemporaryDirectory() as folder:
        train(config_for(seed, steps), Path(folder) / "run", on_step=on_step)
    return Curve(startup, tuple(clock), tuple(rewards), tuple(evaluated))


def answer(payload: Payload) -> Payload:
    """One curve for {"seed", "steps", "spawned"}."""
    return run(payload["seed"], payload["steps"], payload["spawned"]).to_json()


if __name__ == "__main__":
    serve(answer)
