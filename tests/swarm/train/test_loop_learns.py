"""Training makes a policy better, and a sign flipped does not: whole runs in their own process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.tiny_runs import rows

from swarm.config.base import JsonValue

pytestmark = [pytest.mark.learns, pytest.mark.usefixtures("tiny_model")]

#: A rise that no seed reaches by chance: the standard error of eval/acc on 512 prompts is 0.022.
RISE = 0.1

#: Processor seconds of a run of 60 steps on one thread, imports included: about twice the 52 that
#: a slow day took. Wall-clock would measure what else the machine does.
SECONDS = 100

PROGRAM = """
import json, sys, time
from pathlib import Path
from swarm import tasks
from swarm.config.train import TrainConfig
from swarm.tasks.strings import Reverse
from swarm.train.loop import train


class Flipped(Reverse):
    def reward(self, name, problem, completion):
        return 1 - super().reward(name, problem, completion)


values, folder, flipped = json.loads(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "flipped"
if flipped:
    tasks.FAMILIES = {"reverse": Flipped()}
train(TrainConfig().with_values(values), folder)
print(time.process_time())
"""


@dataclass(frozen=True)
class Learned:
    """What a run reached: the metrics of its evaluations, in step order, and processor seconds."""

    accuracy: list[float]
    proxy: list[float]
    seconds: float


def run(folder: Path, *, flipped: bool = False, **values: JsonValue) -> Learned:
    """60 steps of the default config; `__` in a name stands for the dot of a path."""
    paths = {"steps": 60} | {name.replace("__", "."): value for name, value in values.items()}
    flag = "flipped" if flipped else "straight"
    program = folder.with_suffix(".py")  # whose source the fingerprint of what judges is of
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, program, json.dumps(paths), str(folder), flag],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    evaluated = [row for row in rows(folder) if "eval/acc" in row]
    return Learned(
        [row["eval/acc"] for row in evaluated],
        [row["eval/proxy"] for row in evaluated],
        float(done.stdout),
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_default_recipe_learns_to_reverse(seed: int, tmp_path: Path) -> None:
    learned = run(tmp_path / "run", seed=seed)
    assert learned.accuracy[-1] - learned.accuracy[0] >= RISE
    assert learned.seconds <= SECONDS


def test_a_reward_turned_round_unlearns(tmp_path: Path) -> None:
    """The same recipe paid for wrong answers: what it learns comes from the reward's sign."""
    learned = run(tmp_path / "run", flipped=True)
    assert learned.accuracy[-1] <= learned.accuracy[0] - RISE


def test_a_proxy_rises_while_the_true_metric_falls(tmp_path: Path) -> None:
    """`order` pays for a sorted look and not for the right letters."""
    learned = run(tmp_path / "run", task__ref="order", task__reward="proxy")
    assert learned.proxy[-1] > learned.proxy[0] + 0.04
    assert learned.accuracy[-1] < learned.accuracy[0] - RISE
