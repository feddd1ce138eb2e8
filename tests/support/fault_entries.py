"""What fault tests run in place of `swarm.train.loop.train`, chosen by `config.seed`.

Seeds below 100 finish. Above, the hundreds say what goes wrong (see `ENTRY`).
"""

import math
import os
import signal
import time
from pathlib import Path

import swarm
from swarm.config.train import TrainConfig
from swarm.disk.folder import RunResult, RunWriter, read_rows
from swarm.errors import RewardFailed

ENTRY = "support.fault_entries:run"
RAISES, KILLED_ONCE, HANGS, KILLED_ALWAYS, UNSEALED, DIVERGES, SICK, REWARD = range(100, 900, 100)
BROKEN_REWARD = "support.fault_entries:broken_reward"
STEP_SECONDS = 0.05


def run(config: TrainConfig, folder: Path, *, resume_from: Path | None = None) -> RunResult:
    """Write `config.steps` rows, slowly, going on where `resume_from` stopped."""
    done = len(list(read_rows(resume_from / "metrics.jsonl"))) if resume_from else 0
    writer = RunWriter(folder)
    writer.event(
        "started",
        resumed_at=done,
        pid=os.getpid(),
        gpus=os.environ.get("CUDA_VISIBLE_DEVICES"),
        trainer=swarm.__file__,
        threads=os.environ.get("OMP_NUM_THREADS"),
    )
    kind = config.seed // 100 * 100
    for step in range(config.steps + 1):
        wall = step * STEP_SECONDS
        values = {"reward/mean": step / config.steps, "policy/entropy": 1.0}
        if kind == SICK:
            values["loss/policy"] = math.nan
        if step % 5 == 0:
            values["eval/acc"] = 0.25 + 0.5 * step / config.steps
        writer.metrics(step, wall, values)
        if step >= done:
            time.sleep(STEP_SECONDS)
        if step == 3 and (kind == KILLED_ALWAYS or (kind == KILLED_ONCE and not resume_from)):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == 3 and kind == RAISES:
            raise ValueError(f"seed {config.seed} cannot learn\nsecond line")
        if step == 3 and kind == REWARD:
            raise RewardFailed("praise in mine.py", "returned 1 values for 4 completions", 7)
        if step == 3 and kind == HANGS:
            time.sleep(600)
    if kind == UNSEALED:
        return RunResult("finished", config.steps, wall)
    diverged = kind == DIVERGES
    result = RunResult(
        "diverged" if diverged else "finished",
        config.steps,
        wall,
        "non-finite gradient" if diverged else "",
    )
    writer.seal(result)
    return result


def broken_reward(
    config: TrainConfig, folder: Path, *, resume_from: Path | None = None
) -> RunResult:
    """A run whose reward fails at once, whatever the seed."""
    return run(config.with_values({"seed": REWARD}), folder, resume_from=resume_from)
