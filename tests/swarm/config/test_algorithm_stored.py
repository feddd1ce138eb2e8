"""Configs that were stored before `algorithm.returns` was a setting: they read as
what they meant, and are hashed as they were."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.algorithms import NAMES
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.base import EVERY, canonical_digest
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
    config = TrainConfig.read_back(raw)
    assert config.algorithm.returns == meant
    assert config.digest() == canonical_digest(raw)
    again = TrainConfig.read_back(config.model_dump(mode="json"))
    assert (again, again.digest()) == (config, config.digest())


def test_what_means_something_new_has_another_digest() -> None:
    values = {"algorithm.name": "reinforce_pp", "algorithm.kl_coef": 0.0}
    config = TrainConfig().with_values(values)
    assert config.algorithm.returns == "token"
    assert config.digest() != canonical_digest(stored(values))


def test_a_coefficient_of_zero_never_changes_the_returns() -> None:
    config = TrainConfig().with_values({"algorithm.name": "reinforce_pp"})
    assert config.with_values({"algorithm.kl_coef": 0.0}).algorithm.returns == "token"
    old = TrainConfig.read_back(stored({"algorithm.name": "reinforce_pp"}))
    assert old.with_values({"algorithm.kl_coef": 0.0}).algorithm.returns == "token"


def test_what_a_user_writes_is_never_taken_for_stored() -> None:
    """However much of it is spelled out."""
    spelled = stored({"algorithm.name": "reinforce_pp", "algorithm.kl_coef": 0.0})
    assert TrainConfig.read_back(spelled).algorithm.returns == "episode"
    assert TrainConfig.model_validate(spelled).algorithm.returns == "token"
    algorithm = AlgorithmSettings(**spelled["algorithm"])
    assert algorithm == AlgorithmSettings(name="reinforce_pp", kl_coef=0.0)


@given(
    st.sampled_from(NAMES),
    st.sampled_from((None, 0.0, 0.1)),
    st.sampled_from(("loss", "reward")),
    st.sampled_from((None, "none", "batch", "group", "value")),
    st.sampled_from((None, "episode", "token")),
)
def test_a_dump_is_read_back_as_it_was(
    name: str, kl_coef: float | None, placement: str, baseline: str | None, returns: str | None
) -> None:
    values = {"kl_coef": kl_coef, "baseline": baseline, "returns": returns}
    given_values = {f"algorithm.{k}": v for k, v in values.items() if v is not None}
    try:
        config = TrainConfig().with_values(
            {"algorithm.name": name, "algorithm.kl_placement": placement, **given_values}
        )
    except ValidationError:
        return
    for context in (None, EVERY):
        assert TrainConfig.read_back(config.model_dump(mode="json", context=context)) == config
        text = config.model_dump_json(context=context)
        assert TrainConfig.read_back(text) == config


def test_what_older_versions_ran_is_still_read() -> None:
    """Settings that are refused by now."""
    raw = stored({"algorithm.baseline": "none"})
    raw["algorithm"]["scale"] = "group_std"
    config = TrainConfig.read_back(raw)
    assert (config.algorithm.scale, config.digest()) == ("group_std", canonical_digest(raw))
    with pytest.raises(ValidationError, match="divides what is centred"):
        TrainConfig.model_validate(raw)
