"""The self-test of a base model at load."""

import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.architectures import build, save

from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable
from swarm.learn import forward
from swarm.policy.base_model import load_base
from swarm.train import proof
from swarm.train.proof import load_proven, prove


def test_tiny_is_proven_in_less_than_a_second() -> None:
    base = load_base(ModelSettings(), "cpu")
    began = time.process_time()
    prove("tiny", base)
    assert time.process_time() - began < 1


def test_in_bf16() -> None:
    assert load_proven(ModelSettings(dtype="bfloat16"), "cpu").ends.written == 1


def test_nothing_of_it_is_left_behind() -> None:
    base = load_base(ModelSettings(), "cpu")
    torch.manual_seed(3)
    np.random.seed(3)
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()
    before = {name: p.clone() for name, p in base.host.model.state_dict().items()}
    prove("tiny", base)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state[1])
    assert all(torch.equal(p, before[n]) for n, p in base.host.model.state_dict().items())
    assert not any(layer.pairs for layer in base.host.layers.values())


@pytest.mark.parametrize("what", ["learner", "engine"])
def test_what_differs_is_named(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transform of the logits that one of them leaves out."""
    where = {"learner": "swarm.learn.forward", "engine": "swarm.engine.trunk"}[what]
    monkeypatch.setattr(f"{where}.logit_scale", lambda config: 2.0)
    with pytest.raises(
        ModelUnavailable, match=f"'tiny' .LlamaForCausalLM.*the {what}'s"
    ) as refused:
        load_proven(ModelSettings(), "cpu")
    assert "\n" not in str(refused.value)


def test_a_fault_beyond_the_window_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The short row is right, the long one is not."""
    save(build("mistral"), tmp_path)
    real = forward.TreeAttention.attend
    monkeypatch.setattr(
        forward.TreeAttention, "attend", lambda self, *args: real(self, *args[:4], None)
    )
    with pytest.raises(ModelUnavailable, match="on a row of 44 tokens the learner's"):
        load_proven(ModelSettings(ref=str(tmp_path)), "cpu")


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    save(build("llama"), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    weights["model.layers.1.mlp.down_proj.weight"][0, 0] = float("nan")
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelUnavailable, match="not finite"):
        load_proven(ModelSettings(ref=str(tmp_path)), "cpu")


def test_the_long_row_is_bounded_by_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    base = load_base(ModelSettings(), "cpu")
    monkeypatch.setattr(proof, "window", lambda config: 200)
    assert proof._long(base) == 200 + 2 * proof.ANSWER
    monkeypatch.setattr(proof, "WORK", 1e6)
    assert proof._long(base) == proof.LONG
