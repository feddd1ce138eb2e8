"""One run of the recipe by swarm, as `swarm train` runs it."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.harness import Payload, serve
from benchmarks.reward.curve import Curve
from benchmarks.reward.recipe import config_for
from benchmarks.reward.trace import Trace, reply
from swarm.train.loop import train


def run(seed: int, steps: int, spawned: float) -> Curve:
    """Train; `spawned` is this process's start by the monotonic clock."""
    trace = Trace(spawned)

    def on_step(step: int, values: Mapping[str, float]) -> None:
        evaluation = values.get("time/eval", 0.0)
        if step == 0:
            trace.start(evaluation)
        else:
            trace.step(evaluation)
            trace.rewards.append(values["reward/mean"])
        if "eval/acc" in values:
            trace.evaluated(values["eval/acc"])
        trace.resume()

    with tempfile.TemporaryDirectory() as folder:
        train(config_for(seed, steps), Path(folder) / "run", on_step=on_step)
    return trace.curve()


def answer(payload: Payload) -> Payload:
    """One curve for {"seed", "steps", "spawned"}."""
    return reply(run(payload["seed"], payload["steps"], payload["spawned"]))


if __name__ == "__main__":
    serve(answer)
