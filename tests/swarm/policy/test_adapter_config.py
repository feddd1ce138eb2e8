"""Ranks and scales by layer, as PEFT resolves them."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm.errors import BadAdapter
from swarm.policy.adapter_config import CONFIG_FILE, AdapterConfig, read_adapter_config

PATH = "model.layers.1.mlp.down_proj"


def read(folder: Path, **settings: Any) -> AdapterConfig:
    (folder / CONFIG_FILE).write_text(json.dumps({"r": 4, "lora_alpha": 6, **settings}))
    return read_adapter_config(folder)


def test_alpha_over_rank(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert (config.rank_at(PATH), config.scale_at(PATH), config.patterned) == (4, 1.5, "")


def test_over_its_root(tmp_path: Path) -> None:
    config = read(tmp_path, use_rslora=True)
    assert (config.scale_at(PATH), config.patterned) == (3.0, "use_rslora")


@pytest.mark.parametrize("pattern", ["down_proj", "layers.1.mlp.down_proj", ".*1.*"])
def test_patterns_match_ends_of_paths(pattern: str, tmp_path: Path) -> None:
    config = read(tmp_path, rank_pattern={"q_proj": 1, pattern: 2}, alpha_pattern={pattern: 5})
    assert (config.rank_at(PATH), config.scale_at(PATH)) == (2, 2.5)
    assert config.rank_at("model.layers.0.mlp.down_projector") == 4
    assert config.patterned == "rank_pattern"


@pytest.mark.parametrize(
    "settings", [{"r": 0}, {"rank_pattern": {"q_proj": 0}}, {"rank_pattern": [1]}, {"r": None}]
)
def test_what_is_no_rank(settings: dict, tmp_path: Path) -> None:
    with pytest.raises(BadAdapter, match="cannot be read"):
        read(tmp_path, **settings)
