"""Keys and values: written in place, moved, grown, and clear of what others left."""

import pytest
import torch
from torch import Tensor

from swarm.engine import kv_cache
from swarm.engine.kv_cache import PromptCache, RowCache
from swarm.errors import Refusal

LAYERS, HEADS, WIDTH = 2, 3, 4


def prompts(count: int, columns: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(LAYERS, 2, count, HEADS, columns, WIDTH, generator=rng)


def one_token(rows: int, value: float) -> Tensor:
    return torch.full((rows, HEADS, 1, WIDTH), value)


def test_rows_begin_with_their_prompts() -> None:
    found = prompts(2, 3)
    cache = RowCache(4, found, longest=8)
    cache.admit(0, found, torch.tensor([0, 1, 1]))
    assert torch.equal(cache.kv[:, :, 0, :, :3], found[:, :, 0])
    assert torch.equal(cache.kv[:, :, 2, :, :3], found[:, :, 1])
    assert not cache.kv[:, :, 3].any()


def test_a_step_writes_each_row_behind_its_own_tokens_and_reads_what_is_in_use() -> None:
    found = prompts(2, 3)
    cache = RowCache(2, found, longest=8)
    cache.admit(0, found, torch.tensor([0, 1]))
    cache.begin_step(torch.tensor([3, 2]), columns=4)  # the second prompt is padded by one
    for layer in range(LAYERS):
        keys, values = cache.update(one_token(2, 5.0), one_token(2, 6.0), layer)
        assert keys.shape == values.shape == (2, HEADS, 4, WIDTH)
        assert torch.equal(keys[0, :, 3], torch.full((HEADS, WIDTH), 5.0))
        assert torch.equal(values[1, :, 2], torch.full((HEADS, WIDTH), 6.0))
        assert torch.equal(keys[0, :, :3], found[layer, 0, 0])
        assert not keys[1, :, 3].any()
    assert cache.get_seq_length() == 3


def test_growing_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kv_cache, "AT_ONCE", 1)
    found = prompts(1, 3)
    cache = RowCache(1, found, longest=100)
    assert cache.kv.shape[4] == 4
    cache.admit(0, found, torch.tensor([0]))
    cache.reserve(5)
    assert cache.kv.shape[4] == 6  # by half at least
    cache.reserve(2)
    assert cache.kv.shape[4] == 6
    assert torch.equal(cache.kv[:, :, 0, :, :3], found[:, :, 0])


def test_there_is_room_for_the_longest_row_at_once_where_it_is_cheap() -> None:
    assert RowCache(1, prompts(1, 3), longest=100).kv.shape[4] == 100


def test_what_an_earlier_row_left_is_cleared() -> None:
    """A masked column still enters a sum with weight 0, and 0 x NaN is NaN."""
    long, short = torch.full_like(prompts(1, 6), torch.nan), prompts(1, 2)
    cache = RowCache(2, long, longest=8)
    cache.admit(0, long, torch.tensor([0]))
    cache.admit(1, short, torch.tensor([0]))
    cache.admit(0, short, torch.tensor([0]))
    assert not cache.kv.isnan().any()
    cache.admit(0, long, torch.tensor([0]))
    cache.move(torch.tensor([1]), torch.tensor([0]), columns=2)
    assert torch.equal(cache.kv[:, :, 0], cache.kv[:, :, 1])
    assert not cache.kv.isnan().any()


class TestPromptCache:
    def test_keys_and_values_are_kept_as_they_came(self) -> None:
        cache, found = PromptCache(), prompts(2, 3)
        for layer in range(LAYERS):
            keys, values = cache.update(*found[layer], layer)
            assert torch.equal(torch.stack([keys, values]), found[layer])
        assert torch.equal(cache.stacked(), found)

    def test_a_prefix_goes_before(self) -> None:
        prefix, found = prompts(2, 2, seed=1), prompts(2, 3)
        cache = PromptCache(prefix)
        for layer in range(LAYERS):
            cache.update(*found[layer], layer)
        assert torch.equal(cache.stacked(), torch.cat([prefix, found], dim=4))

    def test_layers_of_several_shapes_are_refused(self) -> None:
        cache = PromptCache()
        cache.update(*prompts(1, 3)[0], 0)
        cache.update(*prompts(1, 2)[0], 1)
        with pytest.raises(Refusal, match=r"model\.ref: .*one shape"):
            cache.stacked()
