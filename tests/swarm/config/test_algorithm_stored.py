"""Configs that were stored before `algorithm.returns` was a setting: they read as
what they meant, and are hashed as they were."""

from typing import Any

import pytest

from swarm.config.base import canonical_digest
from swarm.config.train import TrainConfig


def stored(values: dict) -> dict[str, Any]:
    raw = TrainConfig().with_values(values).model_dump(mode="json")
    raw["algorithm"].pop("returns", None)
    return raw


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({}, "episode"),
        ({"algorithm.name": "grpo"}, "episode"),
        ({"algorithm.name": "reinforce_pp"}, "token"),
        ({"algorithm.name": "reinforce_pp", "algorithm.kl_coef": 0.0}, "episode"),
        ({"algorithm.name": "reinforce_pp", "algorithm.kl_placement": "loss"}, "episode"),
        ({"algorithm.name": "ppo", "algorithm.kl_coef": 0.0}, "token"),
        ({"algorithm.name": "rloo"}, "episode"),
    ],
)
def test_it_means_what_it_meant_and_keeps_its_digest(values: dict, meant: str) -> None:
    raw = stored(values)
    config = TrainConfig.model_validate(raw)
    assert config.algorithm.returns == meant
    assert config.digest() == canonical_digest(raw)
    again = TrainConfig.model_validate(config.model_dump(mode="json"))
    assert (again, again.digest()) == (config, config.digest())


def test_what_means_something_new_has_another_digest() -> None:
    values = {"algorithm.name": "reinforce_pp", "algorithm.kl_coef": 0.0}
    config = TrainConfig().with_values(values)
    assert config.algorithm.returns == "token"
    assert config.digest() != canonical_digest(stored(values))


def test_a_coefficient_of_zero_never_changes_the_returns() -> None:
    config = TrainConfig().with_values({"algorithm.name": "reinforce_pp"})
    assert config.with_values({"algorithm.kl_coef": 0.0}).algorithm.returns == "token"
    old = TrainConfig.model_validate(stored({"algorithm.name": "reinforce_pp"}))
    assert old.with_values({"algorithm.kl_coef": 0.0}).algorithm.returns == "token"
