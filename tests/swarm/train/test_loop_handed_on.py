"""What a run leaves works in the tools that others use, and here: with the same log-probabilities
everywhere, and for every user of the machine."""

import stat
from pathlib import Path

import pytest
import torch
from peft import AutoPeftModelForCausalLM
from support.tiny_runs import small
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from swarm import models
from swarm.config.parts import ModelSettings
from swarm.config.train import TrainConfig
from swarm.policy.adapters import load_adapter
from swarm.policy.base_model import load_base
from swarm.train.evaluate import evaluate
from swarm.train.loop import train

PROMPT = "R:abcd>dc"


@pytest.fixture(scope="module", params=["lora", "full"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / request.param
    train(config_of(request.param), folder)
    return folder


def config_of(kind: str) -> TrainConfig:
    return small(steps=2, policy__kind=kind, optim__lr=1e-2)


def law(model: nn.Module) -> Tensor:
    """Log-probabilities of each next character of PROMPT."""
    ids = AutoTokenizer.from_pretrained(models.ensure("tiny"))(
        PROMPT, return_tensors="pt"
    ).input_ids
    with torch.no_grad():
        logprobs: Tensor = model(ids).logits.log_softmax(-1)
    return logprobs


def test_others_load_it_and_it_is_the_policy(run: Path) -> None:
    """By its folder alone: an adapter names a base that loads, a model has its tokenizer."""
    base = load_base(ModelSettings(), "cpu")
    before = law(base.host.model)
    if run.name == "lora":
        theirs = law(AutoPeftModelForCausalLM.from_pretrained(run / "adapter"))
        load_adapter(base.host, run / "adapter", "policy")
        with base.host.routing.using("policy"):
            ours = law(base.host.model)
    else:
        theirs = law(AutoModelForCausalLM.from_pretrained(run / "adapter"))
        ours = law(load_base(ModelSettings(ref=str(run / "adapter")), "cpu").host.model)
        written = AutoTokenizer.from_pretrained(run / "adapter")
        assert written(PROMPT).input_ids == base.tokenizer(PROMPT).input_ids
    torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)
    assert (theirs - before).abs().max() > 1e-2


def test_it_is_evaluated_here(run: Path) -> None:
    """By its folder, and all weights as a model of their own, too."""
    config = config_of(run.name)
    found = evaluate(config, run)
    assert found != evaluate(config)
    if run.name == "full":
        assert evaluate(config.with_values({"model.ref": str(run / "adapter")})) == found


def test_every_file_has_the_mode_that_the_umask_gives(run: Path, tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in run.rglob("*") if p.is_file()}
    assert set(modes.values()) == {stat.S_IMODE(usual.stat().st_mode)}, modes
