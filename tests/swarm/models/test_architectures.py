"""Every architecture of the table against PEFT on plain transformers, at random small weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from support.architectures import CONFIGS, ORIGINAL, POSITIONS, WINDOW, YARN, build, gaps, save
from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable
from swarm.models.architectures import PROVEN, check_proven, limit, logit_scale, window
from swarm.policy.base_model import load_base
from swarm.train.proof import load_proven

#: One of each kind: grouped heads, a window in some layers and in all, fused projections,
#: transposed weights and learned positions, two ropes, experts, scaled logits.
FEW = ("llama", "qwen2", "phi3", "gpt2", "gemma3_text", "qwen3_moe", "cohere")


def check(name: str, folder: Path) -> None:
    """Its adapter, as trained and sampled here and as PEFT rebuilds it."""
    save(build(name), folder)
    experts = PROVEN[name].experts
    found = gaps(folder, "linear" if experts else "all")
    assert found.learner < 2e-5
    assert found.engine < 2e-5
    assert found.gradients < 1e-5
    assert found.moved > 0.05  # else nothing was compared
    assert (found.adapted == 1) is not experts


@pytest.mark.parametrize("name", FEW)
def test_a_few(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.models
@pytest.mark.parametrize("name", sorted(PROVEN.keys() - set(FEW)))
def test_the_others(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.models
@pytest.mark.parametrize("name", sorted(PROVEN))
def test_each_is_proven_when_it_is_loaded(name: str, tmp_path: Path) -> None:
    save(build(name), tmp_path)
    assert load_proven(ModelSettings(ref=str(tmp_path)), "cpu").limit.tokens == POSITIONS


def test_each_with_a_window_is_built_with_one() -> None:
    assert len(PROVEN) >= 20
    for name, architecture in PROVEN.items():
        config = config_of(name)
        assert (window(config) == WINDOW) is architecture.windows, name
        scaled = architecture.multiplies or architecture.divides
        assert (logit_scale(config) != 1) is bool(scaled), name


def config_of(name: str, **settings: Any) -> Any:
    with torch.device("meta"):
        return build(name, **settings).config


def test_every_other_architecture_is_refused_in_one_line() -> None:
    others = [name for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if name not in PROVEN]
    assert len(others) > 80
    for name in others:
        config = type("Config", (), {"model_type": name})
        with pytest.raises(ModelUnavailable, match=f"architecture '{name}'") as refused:
            check_proven("org/model", config)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["stablelm", "nemotron", "gptj", "falcon_h1"])
def test_what_failed_at_the_first_step_is_refused_at_load(name: str, tmp_path: Path) -> None:
    """Before its weights are read: there are none here."""
    AutoConfig.for_model(name).save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match=f"architecture '{name}'"):
        load_base(ModelSettings(ref=str(tmp_path)), "cpu")


@pytest.mark.parametrize(
    ("name", "settings", "what"),
    [
        ("gemma3_text", {"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        ("llama", {"logits_scaling": 2.0}, "logits_scaling"),
        ("llama", {"layer_types": ["chunked_attention", "full_attention"]}, "chunked_attention"),
        ("llama", {"rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4}}, "spiral"),
    ],
)
def test_a_setting_that_is_computed_otherwise(name: str, settings: Any, what: str) -> None:
    config = AutoConfig.for_model(name)
    for key, value in settings.items():
        setattr(config, key, value)
    with pytest.raises(ModelUnavailable, match=what):
        check_proven("it", config)


LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0] * 4,
    "long_factor": [3.0] * 4,
    "original_max_position_embeddings": ORIGINAL,
}


class TestLimits:
    """Rope that changes for all tokens once the longest row of a batch exceeds a length."""

    def test_longrope_ends_where_it_changes(self) -> None:
        config = config_of(
            "phi3", rope_parameters=LONGROPE, original_max_position_embeddings=ORIGINAL
        )
        assert limit(config).tokens == ORIGINAL
        assert "longrope" in limit(config).why

    def test_dynamic_rope_ends_with_its_positions(self) -> None:
        dynamic = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}
        assert limit(config_of("llama", rope_parameters=dynamic)).tokens == POSITIONS
        assert "dynamic" in limit(config_of("llama", rope_parameters=dynamic)).why

    def test_steady_rope_does_not(self) -> None:
        assert limit(config_of("llama", rope_parameters={"rope_theta": 1e4, **YARN})).why == ""

    def test_within_it_the_model_is_proven(self, tmp_path: Path) -> None:
        model = build("phi3", rope_parameters=LONGROPE, original_max_position_embeddings=ORIGINAL)
        save(model, tmp_path)
        base = load_proven(ModelSettings(ref=str(tmp_path)), "cpu")
        assert base.limit.tokens == ORIGINAL


def test_the_table_has_a_model_to_be_tested_by() -> None:
    assert PROVEN.keys() <= CONFIGS.keys()
