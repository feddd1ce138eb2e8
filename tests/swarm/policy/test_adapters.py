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


@pytest.mark.parametrize(
    "settings",
    [
        {"use_rslora": True},
        {"rank_pattern": {"q_proj": 2}},
        {"alpha_pattern": {"layers.1.mlp.down_proj": 11}, "rank_pattern": {".*.0.*.q_proj": 1}},
        {"layers_to_transform": [1]},
        {"target_modules": "all-linear", "init_lora_weights": "gaussian"},
    ],
    ids=str,
)
def test_what_is_read_of_a_variant_is_pefts(settings: dict, tmp_path: Path) -> None:
    theirs = written_by_peft(tmp_path, **settings)
    host = AdapterHost.wrap(llama())
    load_adapter(host, tmp_path, "mine")
    with torch.no_grad(), host.routing.using("mine"):
        torch.testing.assert_close(host.model(BATCH).logits, theirs, atol=1e-5, rtol=1e-5)


class TestRefusals:
    def test_another_base(self, tmp_path: Path) -> None:
        written_by_peft(tmp_path)
        host = AdapterHost.wrap(llama(num_hidden_layers=1))
        with pytest.raises(BadAdapter, match=r"adapts model\.layers\.1.*which this base has not"):
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

    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"use_dora": True}, "use_dora"),
            ({"lora_bias": True}, "lora_bias"),
            ({"bias": "lora_only"}, "bias 'lora_only'"),
            ({"modules_to_save": ["embed_tokens"]}, "modules_to_save"),
            ({"trainable_token_indices": [3, 4]}, "trainable_token_indices"),
            ({"init_lora_weights": "pissa"}, "init_lora_weights 'pissa'"),
            ({"target_modules": ["q_proj", "lm_head"]}, "lm_head"),
            ({"target_modules": ["q_proj", "embed_tokens"]}, "embed_tokens"),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("says_so", [True, False])
    def test_what_would_not_be_read(
        self, settings: dict, named: str, says_so: bool, tmp_path: Path
    ) -> None:
        """Each variant that PEFT writes, by its settings; and by its tensors alone where it has
        any, as of a tool that writes other settings."""
        written_by_peft(tmp_path, **settings)
        if not says_so:
            path = tmp_path / CONFIG_FILE
            written = json.loads(path.read_text())
            plain = {k: v for k, v in written.items() if k not in settings}
            path.write_text(json.dumps(plain))
            if "init_lora_weights" in settings or settings.get("bias"):
                return  # neither has tensors of its own: this base has no bias
            named = "which would not be read"
        with pytest.raises(BadAdapter, match=named):
            load_adapter(AdapterHost.wrap(llama()), tmp_path, "mine")

    def test_a_setting_of_tomorrow(self, tmp_path: Path) -> None:
        """Nobody knows what it changes, so it is not ignored while it is on."""
        written_by_peft(tmp_path)
        path = tmp_path / CONFIG_FILE
        settings = json.loads(path.read_text())
        path.write_text(json.dumps({**settings, "use_twist": False}))
        load_adapter(AdapterHost.wrap(llama()), tmp_path, "one")
        path.write_text(json.dumps({**settings, "use_twist": True}))
        with pytest.raises(BadAdapter, match="uses use_twist"):
            load_adapter(AdapterHost.wrap(llama()), tmp_path, "two")
