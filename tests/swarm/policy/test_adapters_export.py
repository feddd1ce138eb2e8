"""Final weights load in the tools that others use, with our logits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from support.models import llama
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.policy.adapters import export
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy

BATCH = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 11, 12]])


def perturbed(model: nn.Module, settings: PolicySettings) -> tuple[Policy, Tensor]:
    """A policy away from its start, and its logits on BATCH."""
    policy = Policy(AdapterHost.wrap(model), settings, OptimSettings(), seed=3)
    rng = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in policy.parameters.values():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=rng))
        with policy.active():
            return policy, model(BATCH).logits


@pytest.mark.parametrize("targets", ["all", "attention", "mlp"])
def test_an_adapter_loads_in_peft(random_llama: nn.Module, targets: str, tmp_path: Path) -> None:
    settings = PolicySettings(rank=4, alpha=6.0, targets=targets)
    policy, ours = perturbed(random_llama, settings)
    export(policy, ModelSettings(), settings, tmp_path)
    loaded = PeftModel.from_pretrained(llama(), str(tmp_path))
    assert not loaded.training
    with torch.no_grad():
        theirs = loaded(BATCH).logits
        base = llama()(BATCH).logits
    torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)
    assert (ours - base).abs().max() > 0.1


def test_full_weights_load_in_transformers(random_llama: nn.Module, tmp_path: Path) -> None:
    """Equal to the bit: the same weights in the same layers."""
    settings = PolicySettings(kind="full")
    policy, ours = perturbed(random_llama, settings)
    export(policy, ModelSettings(), settings, tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(loaded(BATCH).logits, ours)


def test_equal_policies_leave_equal_files(tmp_path: Path) -> None:
    """Whatever the hash seed of the process: PEFT writes a set."""
    code = (
        "import sys, pathlib\n"
        "from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings\n"
        "from swarm.policy.adapters import export\n"
        "from swarm.policy.base_model import load_base\n"
        "from swarm.policy.policy import Policy\n"
        "base = load_base(ModelSettings(), 'cpu')\n"
        "policy = Policy(base.host, PolicySettings(), OptimSettings(), 0)\n"
        "export(policy, ModelSettings(), PolicySettings(), pathlib.Path(sys.argv[1]))\n"
    )
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, tmp_path / seed], check=True, env=environment)
    one, other = ((tmp_path / seed / "adapter_config.json").read_bytes() for seed in "12")
    assert one == other
