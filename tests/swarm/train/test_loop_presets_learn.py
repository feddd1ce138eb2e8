"""Every preset makes `tiny` better at reversing strings, and with its sign flipped does not.

Held-out accuracy, here also the training reward, is taken on 512 prompts before and after; its
standard error is 0.02. For DPO the margin counts, on pairs drawn from the reference as in its
paper.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from support.tiny_runs import rows
from torch import nn

from swarm.algorithms import NAMES
from swarm.config.base import JsonValue
from swarm.config.parts import OptimSettings
from swarm.config.train import TrainConfig
from swarm.policy import policy
from swarm.policy.policy import make_optimizer
from swarm.train.loop import train

pytestmark = [pytest.mark.learns, pytest.mark.usefixtures("tiny_model")]

SEEDS = (0, 1, 2)
RISE = 0.1

RECIPE: Mapping[str, JsonValue] = {
    "steps": 30,
    "task.args.min": 4,
    "task.args.max": 7,
    "batch.rollouts": 128,
    "batch.group_size": 8,
    "batch.epochs": 2,
    "batch.minibatches": 2,
    "optim.lr": 1e-3,
    "optim.schedule": "linear",
    "evaluation.every": 30,
    "evaluation.prompts": 512,
    "checkpoint_every": 100,
}
#: What differs: pairs want many small groups and a sampler that stays at the reference.
OWN: Mapping[str, Mapping[str, JsonValue]] = {
    "dpo": {"batch.group_size": 4, "batch.minibatches": 1, "max_staleness": 64},
    "sft": {"batch.epochs": 1},
}
#: A control shows its direction early.
SHORT: Mapping[str, JsonValue] = {"steps": 6, "evaluation.every": 6}


def config(name: str, seed: int, **values: JsonValue) -> TrainConfig:
    return TrainConfig().with_values(
        {"algorithm.name": name, "seed": seed, **RECIPE, **OWN.get(name, {}), **values}
    )


def risen(name: str, folder: Path) -> float:
    """How much better the policy is at the end than at the start."""
    if name == "dpo":
        margins = [row["dpo/margin"] for row in rows(folder) if "dpo/margin" in row]
        return sum(margins[-5:]) / 5 - margins[0]
    accuracies = [row["eval/acc"] for row in rows(folder) if "eval/acc" in row]
    return accuracies[-1] - accuracies[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_it_learns(name: str, seed: int, tmp_path: Path) -> None:
    train(config(name, seed), tmp_path)
    assert risen(name, tmp_path) >= RISE


@pytest.mark.parametrize("name", NAMES)
def test_with_its_sign_flipped_it_does_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "make_optimizer", climbing)
    train(config(name, 0, **SHORT), tmp_path)
    assert risen(name, tmp_path) < 0


def climbing(parameters: list[nn.Parameter], optim: OptimSettings) -> torch.optim.AdamW:
    """The policy's optimizer, stepping up the gradient of its loss."""
    optimizer = make_optimizer(parameters, optim)
    optimizer.param_groups[0]["maximize"] = True
    return optimizer
