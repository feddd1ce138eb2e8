"""Packed weights give what the plain layers give, and follow them when they change."""

from itertools import chain

import pytest
import torch
from support.models import llama
from torch import nn

from swarm.engine.prepacked import LEAST, PackedBase
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.lora import AdapterHost
from swarm.records import SampleRequest

WIDE = 2**8  # squared it is LEAST


@pytest.fixture
def wide() -> AdapterHost:
    model = llama(WIDE, scale=0.02, hidden=WIDE, mlp=2 * WIDE, tied=True)
    return AdapterHost.wrap(model)


def used(host: AdapterHost) -> set[str]:
    return {path.rpartition(".")[2] for path, layer in host.layers.items() if layer.packed}


def test_wide_layers_are_packed_while_it_is_in_use(wide: AdapterHost) -> None:
    assert WIDE**2 == LEAST
    with PackedBase(wide).in_use():
        assert used(wide) == {"q_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    assert not used(wide)


@pytest.mark.parametrize("rows", [1, 3, 32, 200])
def test_the_same_products(wide: AdapterHost, rows: int) -> None:
    x = torch.randn(rows, 1, WIDE)
    layer = wide.layers["model.layers.1.mlp.up_proj"]
    base = PackedBase(wide)
    with torch.no_grad(), wide.routing.using(None):
        plain = layer(x)
        with base.in_use():
            assert torch.allclose(layer(x), plain, atol=1e-5)
        head = wide.model.get_output_embeddings()
        assert torch.allclose(base.head(x), head(x), atol=1e-5)


def test_a_changed_weight_is_packed_again(wide: AdapterHost) -> None:
    base, head, x = PackedBase(wide), wide.model.get_output_embeddings(), torch.randn(4, WIDE)
    with torch.no_grad():
        for change in (
            lambda: head.weight.mul_(2),
            lambda: setattr(head.weight, "data", torch.randn(WIDE, WIDE)),
        ):
            base.head(x)
            change()
            assert torch.allclose(base.head(x), head(x), atol=1e-4)


def test_weights_that_train_are_not_packed(wide: AdapterHost) -> None:
    wide.model.requires_grad_(True)
    base = PackedBase(wide)
    assert isinstance(base.head, nn.Linear)
    with base.in_use():
        assert not used(wide)


def test_samples_are_those_of_plain_weights(
    wide: AdapterHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide.create("a", 4, 8.0, "all", 0)
    asked = [SampleRequest((3, 4, 5), (1, 2, 3), 12, slot=slot) for slot in ("a", None)]
    packed = TorchEngine(wide, frozenset({1})).sample(asked)
    monkeypatch.setattr("swarm.engine.prepacked.LEAST", 2**40)
    plain = TorchEngine(wide, frozenset({1})).sample(asked)
    pairs = zip(chain.from_iterable(packed), chain.from_iterable(plain), strict=True)
    for found, truth in pairs:
        assert found.tokens == truth.tokens
        assert found.logprobs == pytest.approx(truth.logprobs, abs=1e-5)
