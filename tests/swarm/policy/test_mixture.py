"""Rows of different adapters in one pass of a layer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.models import RANKS, host_with_adapters, llama
from torch import Tensor, nn

from swarm.policy.lora import AdapterHost, LoraLinear
from swarm.policy.mixture import Mixture

SLOTS = ("a", "b", "c", None)


@pytest.fixture
def host(random_llama: nn.Module) -> AdapterHost:
    return host_with_adapters(random_llama)


class TestTheLayer:
    @settings(max_examples=40)
    @given(rows=st.lists(st.sampled_from(SLOTS), min_size=1, max_size=9), width=st.integers(1, 3))
    def test_every_row_gets_its_own_update(self, rows: list[str | None], width: int) -> None:
        host = host_with_adapters(llama())
        torch.manual_seed(len(rows))
        mixture = Mixture(host, tuple(RANKS))
        mixture.assign(rows)
        for layer in list(host.layers.values())[:7]:
            x_BTI = torch.randn(len(rows), width, layer.base.in_features)
            with torch.no_grad(), host.routing.using(mixture=mixture):
                found = layer(x_BTI)
                truth = torch.stack([merged(layer, s, x) for s, x in zip(rows, x_BTI, strict=True)])
            torch.testing.assert_close(found, truth, atol=1e-4, rtol=1e-5)

    def test_what_is_not_a_number_stays_in_its_row(self, host: AdapterHost) -> None:
        layer = next(iter(host.layers.values()))
        layer.pairs["a"].b.data.fill_(torch.nan)
        mixture = Mixture(host, ("a", "b"))
        mixture.assign(["b", "a", None, "b"])
        with torch.no_grad(), host.routing.using(mixture=mixture):
            found = layer(torch.randn(4, 1, 32))
        assert found.isnan().any(-1)[:, 0].tolist() == [False, True, False, False]

    def test_the_routing_is_put_back(self, host: AdapterHost) -> None:
        with pytest.raises(RuntimeError), host.routing.using(mixture=Mixture(host, ("a",))):
            raise RuntimeError
        assert host.routing.mixture is None


def merged(layer: LoraLinear, slot: str | None, x_TI: Tensor) -> Tensor:
    """The layer with the adapter merged into its weights: the slow and obvious way."""
    pair = layer.pairs.get(slot) if slot else None
    update = 0.0 if pair is None else pair.scale * pair.b @ pair.a
    return nn.functional.linear(x_TI, layer.base.weight + update)
