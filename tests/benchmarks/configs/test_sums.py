"""The task of the real run: what its reward pays for, and its prompts."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.configs import sums
from benchmarks.smollm2_grpo import CONFIG
from swarm import tasks
from swarm.cli import config_file


def said(text: str) -> list[sums.Message]:
    return [{"role": "assistant", "content": text}]


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("5 + 19 = 24", 1.0),
        ("5 + 19 = 24\n", 1.0),
        ("5 + 19 = 23", sums.FORMAT_REWARD),
        ("19 + 5 = 24", 0.0),
        ("5 + 19 = 24.", 0.0),
        ("The sum is 5 + 19 = 24", 0.0),
        ("24", 0.0),
        ("", 0.0),
    ],
)
def test_reward(text: str, reward: float) -> None:
    task = sums.make()
    assert task.reward([[]], [said(text)], a=[5], b=[19]) == [reward]
    assert task.correct([[]], [said(text)], a=[5], b=[19]) == [reward == 1.0]


def test_the_config_runs_this_task_with_grpo() -> None:
    config = config_file.read_file(CONFIG, ["model.ref=tiny"])
    task = tasks.load(config.task)
    assert config.algorithm.name == "grpo"
    assert Path(config.task.ref.partition(":")[0]) == Path(sums.__file__)
    assert task.digest == config.task.digest
    held_out = task.evaluation(config.evaluation.prompts)
    assert len(held_out) == config.evaluation.prompts
    first_numbers = [int(row.prompt.split()[-3]) for row in held_out]
    assert 35 < np.mean(first_numbers) < 65
