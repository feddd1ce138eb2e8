"""LoRA targets are found from a model's modules."""

import json
from pathlib import Path

import pytest
from support.architectures import build
from support.models import llama

from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.errors import Refusal
from swarm.policy.adapters import export
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.policy.targets import coverage, matrices, shortest_names


@pytest.mark.parametrize(
    ("name", "targets", "layers"),
    [
        ("phi3", "all", {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}),
        ("glm4", "mlp", {"gate_up_proj", "down_proj"}),
        ("gpt2", "all", {"c_attn", "c_proj", "c_fc"}),
        ("gpt2", "attention", {"c_attn", "attn.c_proj"}),
        ("gpt2", "mlp", {"c_fc", "mlp.c_proj"}),
        ("gpt_neox", "attention", {"query_key_value", "dense"}),
        ("qwen3_moe", "attention", {"q_proj", "k_proj", "v_proj", "o_proj"}),
        ("qwen3_moe", "linear", {"q_proj", "k_proj", "v_proj", "o_proj"}),
        ("llama", "mlp", {"gate_proj", "up_proj", "down_proj"}),
    ],
)
def test_an_export_names_what_it_adapts(
    name: str, targets: str, layers: set[str], tmp_path: Path
) -> None:
    settings = PolicySettings.model_validate({"targets": targets, "rank": 2})
    policy = Policy(AdapterHost.wrap(build(name)), settings, OptimSettings(), 0)
    export(policy, ModelSettings(), settings, tmp_path)
    written = json.loads((tmp_path / "adapter_config.json").read_text())
    assert set(written["target_modules"]) == layers
    assert written["fan_in_fan_out"] is (name == "gpt2")


def test_all_of_a_dense_model_is_all_of_its_blocks() -> None:
    for name in ("llama", "phi3", "gpt2", "glm4"):
        found = coverage(matrices(build(name)), "all")
        assert found.share == 1
        assert found.to_json() == {"all": 1.0, "attention": 1.0, "mlp": 1.0}
        assert not found.gaps


@pytest.mark.parametrize("targets", ["all", "mlp"])
def test_a_gap_is_refused_by_name(targets: str) -> None:
    host = AdapterHost.wrap(build("qwen3_moe"))
    with pytest.raises(Refusal, match=r"policy.targets: .*experts.gate_up_proj.*set it to linear"):
        host.create("a", 2, 4.0, targets, 0)
    assert not host.holds("a")


def test_a_share_is_of_all_weights_of_the_blocks() -> None:
    host = AdapterHost.wrap(llama())
    found = host.coverage("attention")
    attention, mlp = 32 * 32 * 2 + 2 * 32 * 16, 3 * 32 * 48
    assert found.share == pytest.approx(attention / (attention + mlp))
    assert str(found) == "40% of the blocks' weights (attention 100%, mlp 0%)"


def test_names_are_of_the_adapted_layers_alone() -> None:
    modules = ["h.0.attn.c_proj", "h.0.mlp.c_proj", "h.0.mlp", "head", "h.1.attn.c_proj"]
    assert shortest_names(["h.0.attn.c_proj", "h.1.attn.c_proj"], modules) == ["attn.c_proj"]
    assert shortest_names(["h.0.attn.c_proj"], modules) == ["0.attn.c_proj"]
