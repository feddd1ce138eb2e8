"""The multi-LoRA layer: one adapter of many on a frozen base."""

import pytest
import torch
from torch import Tensor, nn

from swarm.policy.lora import AdapterHost

ATTENTION = {"q_proj", "k_proj", "v_proj", "o_proj"}
MLP = {"gate_proj", "up_proj", "down_proj"}

BATCH = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10], [11, 12, 13, 14], [2, 3, 2, 3], [5, 5, 5, 5]])


@pytest.fixture
def host(random_llama: nn.Module) -> AdapterHost:
    """A base with the adapters `a` (rank 4, all layers) and `b` (rank 2, attention)."""
    host = AdapterHost.wrap(random_llama)
    for slot, rank, targets in (("a", 4, "all"), ("b", 2, "attention")):
        for pair in host.create(slot, rank, 8.0, targets, seed=1).values():
            pair.b.data.normal_(0, 0.2)
    return host


def logits(host: AdapterHost, slot: str | None) -> Tensor:
    with torch.no_grad(), host.routing.using(slot):
        return host.model(BATCH).logits


def test_a_fresh_adapter_is_the_base_to_the_bit(random_llama: nn.Module) -> None:
    with torch.no_grad():
        base = random_llama(BATCH).logits
    host = AdapterHost.wrap(random_llama)
    host.create("fresh", 8, 16.0, "all", seed=0)
    assert torch.equal(logits(host, "fresh"), base)
    assert torch.equal(logits(host, None), base)


def test_the_update_is_alpha_over_rank_times_b_a(random_llama: nn.Module) -> None:
    layer_path = "model.layers.0.mlp.up_proj"
    host = AdapterHost.wrap(random_llama)
    pair = host.create("a", 4, 12.0, "mlp", seed=0)[layer_path]
    pair.b.data.normal_()
    layer, x = host.layers[layer_path], torch.randn(2, 3, 32)
    with torch.no_grad(), host.routing.using("a"):
        merged = nn.functional.linear(x, layer.base.weight + 3.0 * pair.b @ pair.a)
        torch.testing.assert_close(layer(x), merged, atol=1e-5, rtol=1e-5)


def test_targets_choose_the_layers(random_llama: nn.Module) -> None:
    host = AdapterHost.wrap(random_llama)

    def names(slot: str, targets: str) -> set[str]:
        return {path.rpartition(".")[2] for path in host.create(slot, 2, 4.0, targets, 0)}

    assert names("x", "attention") == ATTENTION
    assert names("y", "mlp") == MLP
    assert names("z", "all") == ATTENTION | MLP


class TestSlots:
    def test_a_taken_name_is_refused(self, host: AdapterHost) -> None:
        with pytest.raises(ValueError, match="'a' is taken"):
            host.create("a", 2, 4.0, "all", 0)

    def test_seeds_decide_where_an_adapter_starts(self, host: AdapterHost) -> None:
        first, again, other = (
            host.create(slot, 2, 4.0, "all", seed) for slot, seed in (("x", 5), ("y", 5), ("z", 6))
        )
        for path in first:
            assert torch.equal(first[path].a, again[path].a)
            assert not torch.equal(first[path].a, other[path].a)

    def test_the_routing_is_put_back_after_an_exception(self, host: AdapterHost) -> None:
        with host.routing.using("a"):
            with pytest.raises(RuntimeError), host.routing.using("b"):
                raise RuntimeError
            assert host.routing.slot == "a"
        assert host.routing.slot is None


def test_the_base_state_has_the_names_it_had_before(random_llama: nn.Module) -> None:
    before = {key: value.clone() for key, value in random_llama.state_dict().items()}
    host = AdapterHost.wrap(random_llama)
    host.create("a", 2, 4.0, "all", 0)
    after = host.base_state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[key], before[key]) for key in before)
