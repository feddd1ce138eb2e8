"""Adapters that PEFT wrote run here with PEFT's logits; what does not fit is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from support.models import llama
from torch import Tensor

from swarm.errors import BadAdapter
from swarm.policy.adapter_config import CONFIG_FILE
from swarm.policy.adapters import load_adapter
from swarm.policy.lora import AdapterHost
from swarm.policy.saved_weights import find_weights

BATCH = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 11, 12]])


def written_by_peft(folder: Path, **settings: Any) -> Tensor:
    """An adapter of PEFT's own making, away from its start; its logits on BATCH."""
    torch.manual_seed(5)
    settings = {"target_modules": ["q_proj", "down_proj"], **settings}
    model = get_peft_model(llama(), LoraConfig(r=3, lora_alpha=5, **settings)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.add_(0.1 * torch.randn(parameter.shape))
        logits: Tensor = model(BATCH).logits
    model.save_pretrained(folder)
    return logits


def test_its_logits_are_pefts(tmp_path: Path) -> None:
    theirs = written_by_peft(tmp_path)
    host = AdapterHost.wrap(llama())
    load_adapter(host, tmp_path, "mine")
    with torch.no_grad():
        base = host.model(BATCH).logits
        with host.routing.using("mine"):
            ours = host.model(BATCH).logits
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert (ours - base).abs().max() > 0.1


def test_a_run_leads_to_its_adapter(tmp_path: Path) -> None:
    written_by_peft(tmp_path / "run" / "adapter")
    assert find_weights(tmp_path / "run") == find_weights(tmp_path / "run" / "adapter")
    with pytest.raises(BadAdapter, match=r"holds no adapter_config\.json"):
        find_weights(tmp_path)


class TestRefusals:
    def test_another_base(self, tmp_path: Path) -> None:
        written_by_peft(tmp_path)
        host = AdapterHost.wrap(llama())
        host.layers.pop("model.layers.0.self_attn.q_proj")
        with pytest.raises(BadAdapter, match="which this base has not"):
            load_adapter(host, tmp_path, "mine")

    def test_another_shape(self, tmp_path: Path) -> None:
        written_by_peft(tmp_path, target_modules=["q_proj"])
        host = AdapterHost.wrap(llama())
        layers = host.layers
        layers["model.layers.0.self_attn.q_proj"] = layers["model.layers.0.mlp.up_proj"]
        with pytest.raises(BadAdapter, match="has another shape at"):
            load_adapter(host, tmp_path, "mine")

    @pytest.mark.parametrize("text", ["{", "[]", "{}", '{"lora_alpha": 1, "r": 0}'])
    def test_broken_settings(self, tmp_path: Path, text: str) -> None:
        written_by_peft(tmp_path)
        (tmp_path / CONFIG_FILE).write_text(text)
        with pytest.raises(BadAdapter, match="cannot be read"):
            load_adapter(AdapterHost.wrap(llama()), tmp_path, "mine")

    @pytest.mark.parametrize("used", ["use_rslora", "use_dora"])
    def test_another_forward_pass(self, tmp_path: Path, used: str) -> None:
        written_by_peft(tmp_path)
        path = tmp_path / CONFIG_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), used: True}))
        with pytest.raises(BadAdapter, match=used):
            load_adapter(AdapterHost.wrap(llama()), tmp_path, "mine")
