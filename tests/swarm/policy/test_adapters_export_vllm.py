"""An exported adapter in vLLM: the log-probabilities it gives there are the ones it gives here."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from swarm import models
from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.models import smollm2
from swarm.policy.adapters import export
from swarm.policy.base_model import Base, load_base
from swarm.policy.policy import Policy

pytestmark = pytest.mark.vllm

PYTHON = Path(__file__).parents[3] / ".venv-vllm" / "bin" / "python"
TEXT = "The capital of France is Paris, and the capital of Italy is Rome."
#: Two engines in fp32, whose sums run in another order over 30 layers.
FP32 = 2e-3

SERVED = """
import json, sys
from vllm import LLM, SamplingParams
from vllm.lora.request import LoRARequest

def main(model, adapter, tokens):
    engine = LLM(model, dtype="float32", enable_lora=True, max_lora_rank=16, enforce_eager=True,
                 max_model_len=64, max_num_seqs=2)
    asked = SamplingParams(max_tokens=1, prompt_logprobs=0)
    found = {}
    for name, lora in (("base", None), ("adapter", LoRARequest("policy", 1, adapter))):
        (answer,) = engine.generate({"prompt_token_ids": tokens}, asked, lora_request=lora)
        found[name] = [
            law[token].logprob
            for token, law in zip(tokens[1:], answer.prompt_logprobs[1:], strict=True)
        ]
    print(json.dumps(found))

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
"""


def logprobs_of(base: Base, tokens: list[int]) -> np.ndarray:
    """Of each token but the first, given those before it."""
    with torch.no_grad():
        law_TV = torch.log_softmax(base.host.model(torch.tensor([tokens])).logits[0].double(), -1)
    return law_TV[:-1].gather(1, torch.tensor(tokens)[1:, None])[:, 0].numpy()


def test_an_adapter_loads_in_vllm(tmp_path: Path) -> None:
    smollm2.add()
    model, settings = ModelSettings(ref=smollm2.NAME), PolicySettings(rank=12, alpha=24.0)
    base = load_base(model, "cpu")
    tokens = list(base.tokenizer(TEXT).input_ids)
    policy = Policy(base.host, settings, OptimSettings(), seed=3)
    for pair in policy.pairs.values():
        pair.b.data.normal_(0, 0.02)
    export(policy, model, settings, tmp_path)
    served = subprocess.run(
        [PYTHON, "-c", SERVED, models.ensure(smollm2.NAME), tmp_path, json.dumps(tokens)],
        env=os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "ERROR"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    found = json.loads(served.stdout.splitlines()[-1])
    with policy.active():
        ours = logprobs_of(base, tokens)
    with base.host.routing.using(None):
        bare = logprobs_of(base, tokens)
    np.testing.assert_allclose(found["adapter"], ours, atol=FP32, rtol=0)
    np.testing.assert_allclose(found["base"], bare, atol=FP32, rtol=0)
    assert np.abs(ours - bare).max() > 0.1
