"""The model as the engine runs it gives the logits of the model as it is."""

from collections.abc import Callable

import pytest
import torch
from support.models import gpt2, host_with_adapters, llama
from torch import Tensor, nn

from swarm.engine.kv_cache import RowCache
from swarm.engine.trunk import Trunk
from swarm.policy.lora import AdapterHost

PROMPTS = [(3, 4, 5, 6, 7), (8, 9), (10,)]
FP32 = 1e-4


def trunk_on(host: AdapterHost, *slots: str | None) -> Trunk:
    return Trunk(host, host.model.get_output_embeddings(), slots)


def plain(host: AdapterHost, slot: str | None, tokens: tuple[int, ...]) -> Tensor:
    """Next-token logits of one sequence alone, from the whole model."""
    with torch.no_grad(), host.routing.using(slot):
        return host.model(torch.tensor([tokens])).logits[0, -1]


@pytest.mark.parametrize("build", [llama, gpt2])
def test_padded_prompts_are_as_if_alone(build: Callable[[], nn.Module]) -> None:
    host = AdapterHost.wrap(build())
    with torch.no_grad():
        kv, logits = trunk_on(host, None).prefill(PROMPTS, [None] * 3)
    assert kv.shape[2] == 3
    assert kv.shape[4] == 5
    for row, prompt in enumerate(PROMPTS):
        assert torch.allclose(logits[row], plain(host, None, prompt), atol=FP32)


def test_each_row_is_of_its_own_slot() -> None:
    host = host_with_adapters(llama())
    slots = ["a", None, "b"]
    with torch.no_grad():
        _, logits = trunk_on(host, *slots).prefill(PROMPTS, slots)
    for row, (slot, prompt) in enumerate(zip(slots, PROMPTS, strict=True)):
        assert torch.allclose(logits[row], plain(host, slot, prompt), atol=FP32)
        other = plain(host, "c", prompt)
        assert not torch.allclose(logits[row], other, atol=FP32)


@pytest.mark.parametrize("build", [llama, gpt2])
def test_prompts_behind_a_prefix_are_whole_prompts(build: Callable[[], nn.Module]) -> None:
    host, prefix = AdapterHost.wrap(build()), (11, 12, 13)
    trunk = trunk_on(host, None)
    with torch.no_grad():
        before, _ = trunk.prefill([prefix], [None])
        _, logits = trunk.prefill(PROMPTS, [None] * 3, before.expand(-1, -1, 3, -1, -1, -1))
    for row, prompt in enumerate(PROMPTS):
        assert torch.allclose(logits[row], plain(host, None, prefix + prompt), atol=FP32)


@pytest.mark.parametrize("build", [llama, gpt2])
def test_steps_go_on_where_the_prompts_end(build: Callable[[], nn.Module]) -> None:
    host = AdapterHost.wrap(build())
    trunk, rows = trunk_on(host, None), list(PROMPTS)
    with torch.no_grad():
        kv, _ = trunk.prefill(PROMPTS, [None] * 3)
        cache = RowCache(3, kv, longest=16)
        cache.admit(0, kv, torch.arange(3))
        for token in (14, 15, 16):
            lengths = torch.tensor([len(row) for row in rows])
            logits = trunk.step(torch.full((3,), token), lengths, cache, [None] * 3)
            rows = [(*row, token) for row in rows]
            for row, tokens in enumerate(rows):
                assert torch.allclose(logits[row], plain(host, None, tokens), atol=FP32)


def test_a_slot_without_an_adapter_is_refused() -> None:
    with pytest.raises(ValueError, match="no adapter is in the slot 'd'"):
        trunk_on(host_with_adapters(llama()), "a", "d")
