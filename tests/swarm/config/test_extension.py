"""Which config goes on where another's run stopped."""

from pathlib import Path
from typing import Any

import pytest

from swarm.config.extension import check_continues
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

RUN = Path("run")


def config(**values: Any) -> TrainConfig:
    return TrainConfig().with_values({"steps": 3} | values)


@pytest.mark.parametrize(
    "values", [{}, {"steps": 9}, {"steps": 9, "optim.warmup_steps": 5, "data.order": "by_signal"}]
)
def test_its_own_and_one_with_more_steps(values: dict) -> None:
    check_continues(config(**values | {"steps": 3}), config(**values), RUN)


@pytest.mark.parametrize("path", ["optim.schedule", "data.order"])
def test_none_whose_steps_depend_on_how_many_there_are(path: str) -> None:
    depends = {path: {"optim.schedule": "cosine", "data.order": "easy_first"}[path]}
    check_continues(config(**depends), config(**depends), RUN)
    with pytest.raises(Refusal, match=rf"steps: run was trained for 3, and {path} \w+ depends"):
        check_continues(config(**depends), config(**depends, steps=9), RUN)


@pytest.mark.parametrize("values", [{"steps": 2}, {"seed": 1}, {"seed": 1, "steps": 9}])
def test_no_other(values: dict) -> None:
    named = min(values)
    with pytest.raises(Refusal, match=f"{named}: run was trained with another value"):
        check_continues(config(), config(**values), RUN)
