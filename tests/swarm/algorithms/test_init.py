"""What each preset sets: its paper's numbers, and how a config takes them over."""

import sys
from types import MappingProxyType

import pytest

from swarm.algorithms import DATA, NAMES, PRESETS
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.base import EVERY
from swarm.config.parts import DataSettings
from swarm.config.train import TrainConfig

#: As published; sources are in the presets' docstrings. Bounds of the ratio are absolute here.
PUBLISHED = {
    "default": {"baseline": "group", "scale": "none", "bounds": (0.8, 1.2), "kl_coef": 0.0},
    "grpo": {"scale": "group_std", "aggregation": "sequence_mean", "kl_coef": 0.04},
    "dr_grpo": {"scale": "none", "aggregation": "fixed_length", "kl_coef": 0.0},
    "dapo": {"bounds": (0.8, 1.28), "overlong_buffer": 4096 / 20480, "kl_coef": 0.0},
    "gspo": {
        "ratio": "sequence",
        "anchor": "batch_start",
        "bounds": (1 - 3e-4, 1 + 4e-4),
        "scale": "group_std",
    },
    "cispo": {"objective": "truncated", "bounds": (0.0, 5.0), "aggregation": "token_mean"},
    "dppo": {"bounds": None, "log_ratio_coef": 1e-3, "correction": ("dppo", 0.2, 0.2)},
    "rloo": {"baseline": "leave_one_out", "bounds": None, "kl_in_reward": True},
    "reinforce_pp": {
        "baseline": "batch",
        "scale": "batch_std",
        "returns": "token",
        "kl_coef": 0.01,
    },
    "ppo": {"baseline": "value", "gae": (1.0, 0.95), "value_clip": 0.2, "kl_coef": 0.05},
    "maxrl": {"baseline": "group", "scale": "group_mean", "kl_coef": 0.0},
    "sft": {"objective": "likelihood", "aggregation": "token_mean", "bounds": None},
    "dpo": {"objective": "preference", "beta": 0.1, "bounds": None},
}


def published(settings: AlgorithmSettings) -> dict[str, object]:
    """The settings, and what a paper would say instead of them."""
    low, high = settings.clip_low, settings.clip_high
    correction, value = settings.correction, settings.value
    return settings.model_dump(context=EVERY) | {
        "bounds": None if low is None or high is None else (1 - low, 1 + high),
        "kl_in_reward": settings.kl_in_reward,
        "gae": (value.gamma, value.lam),
        "value_clip": value.clip,
        "correction": None if correction.kind == "none" else (correction.kind, *correction.bounds),
    }


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_as_published(name: str) -> None:
    found = published(AlgorithmSettings(name=name))
    assert {key: found[key] for key in PUBLISHED[name]} == PUBLISHED[name]


def test_two_presets_filter_groups() -> None:
    found = {name: TrainConfig(algorithm={"name": name}).data.group_filter for name in NAMES}
    filtered = {"dapo": "resample", "dpo": "mixed_rewards"}
    assert found == dict.fromkeys(NAMES, "none") | filtered


@pytest.mark.parametrize("name", NAMES)
class TestFilling:
    def test_by_name_and_by_path_it_is_one_config(self, name: str) -> None:
        assert TrainConfig(algorithm={"name": name}) == TrainConfig().with_values(
            {"algorithm.name": name}
        )

    def test_json_keeps_it(self, name: str) -> None:
        config = TrainConfig(algorithm={"name": name})
        assert TrainConfig.model_validate_json(config.model_dump_json()) == config
        assert config.with_values({}) == config

    def test_its_keys_are_settings(self, name: str) -> None:
        assert set(PRESETS[name]) <= set(AlgorithmSettings.model_fields)
        assert set(DATA.get(name, {})) <= set(DataSettings.model_fields)

    def test_it_explains_itself(self, name: str) -> None:
        module = sys.modules[f"swarm.algorithms.{name}"]
        assert "loss" in (module.__doc__ or "")
        assert name in ("default", "sft") or "arXiv:" in (module.__doc__ or "")

    def test_it_cannot_be_changed(self, name: str) -> None:
        assert isinstance(PRESETS[name], MappingProxyType)


class TestData:
    """A preset's part of `data` follows the same rules as its part of `algorithm`."""

    def test_what_is_given_wins(self) -> None:
        assert TrainConfig(algorithm={"name": "dapo"}, data={"group_filter": "none"}).data == (
            DataSettings()
        )
        values = {"algorithm.name": "dapo", "data.group_filter": "mixed_rewards"}
        assert TrainConfig().with_values(values).data.group_filter == "mixed_rewards"

    def test_another_name_takes_it_back(self) -> None:
        dapo = TrainConfig(algorithm={"name": "dapo"})
        assert dapo.with_values({"algorithm.name": "grpo"}).data.group_filter == "none"
        assert dapo.with_values({"optim.lr": 1e-4}).data.group_filter == "resample"

    def test_the_rest_of_data_stays(self) -> None:
        base = TrainConfig(data={"order": "easy_first"})
        assert base.with_values({"algorithm.name": "dapo"}).data.order == "easy_first"
