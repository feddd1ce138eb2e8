"""Rows of different adapters in one decode batch: each is sampled as if it were alone."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support.models import host_with_adapters, llama
from torch import nn

from swarm import seeds
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.lora import AdapterHost
from swarm.policy.mixture import Mixture
from swarm.records import Completion, SampleRequest

STOPS = frozenset({1})
FP32 = 1e-5
SLOTS = ("a", "b", "c", None)


@pytest.fixture
def host(random_llama: nn.Module) -> AdapterHost:
    return host_with_adapters(random_llama)


def asked_of(slots: Sequence[str | None], members: int = 3) -> list[SampleRequest]:
    """The same prompt of every slot, so that only the adapter tells the rows apart."""
    drawn = tuple(seeds.derive("mixed", m) for m in range(members))
    return [SampleRequest((3, 4, 5), drawn, 10, slot=slot) for slot in slots]


def same(found: Sequence[Completion], truth: Sequence[Completion]) -> bool:
    return [c.tokens for c in found] == [c.tokens for c in truth] and all(
        np.allclose(f.logprobs, t.logprobs, atol=FP32, rtol=0)
        for f, t in zip(found, truth, strict=True)
    )


@pytest.mark.parametrize("slots", [SLOTS, SLOTS[::-1], ("a", None, "a", "c", "b", "b")])
@pytest.mark.parametrize("max_rows", [2, 5, 64])
def test_mixed_equals_alone(host: AdapterHost, slots: Sequence[str | None], max_rows: int) -> None:
    asked = asked_of(slots)
    engine = TorchEngine(host, STOPS, max_rows)
    alone = [engine.sample([one])[0] for one in asked]
    assert all(map(same, engine.sample(asked), alone))


def test_base_rows_are_the_bare_base(host: AdapterHost) -> None:
    bare = TorchEngine(AdapterHost.wrap(llama()), STOPS).sample(asked_of([None]))
    assert same(TorchEngine(host, STOPS).sample(asked_of(SLOTS))[3], bare[0])


def test_a_row_of_a_neighbours_adapter_would_be_seen(
    host: AdapterHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above fails when rows are routed to the adapter one row further."""
    asked = asked_of(SLOTS)
    truth = [TorchEngine(host, STOPS).sample([one])[0] for one in asked]
    assign = Mixture.assign

    def shifted(mixture: Mixture, row_slots: Sequence[str | None]) -> None:
        assign(mixture, [*row_slots[1:], row_slots[0]])

    monkeypatch.setattr(Mixture, "assign", shifted)
    found = TorchEngine(host, STOPS).sample(asked)
    assert not all(map(same, found, truth))


def test_no_two_slots_sample_alike(host: AdapterHost) -> None:
    """Else a swap could not be seen: the law of the first token differs between any two slots."""
    first = [c[0].logprobs[0] for c in TorchEngine(host, STOPS).sample(asked_of(SLOTS))]
    assert len({round(logprob, 3) for logprob in first}) == len(SLOTS)


def test_a_place_that_held_what_is_not_a_number_is_clean(host: AdapterHost) -> None:
    """Rows of `b` take the places, and then the gaps, of longer rows of a broken `a`."""
    for layer in host.layers.values():
        layer.pairs["a"].b.data.fill_(torch.nan)
    whole = asked_of(["b"] * 6, members=1)
    broken = [SampleRequest((3, 4, 5, 6, 7, 8), (m,), 4, slot="a") for m in range(3)]
    truth = [TorchEngine(host, STOPS).sample([one])[0] for one in whole]
    for max_rows in (3, 4):
        found = TorchEngine(host, STOPS, max_rows).sample([*broken, *whole])
        assert all(map(same, found[3:], truth))


def test_an_unknown_slot_is_refused(host: AdapterHost) -> None:
    """Sampling the base in its place would train on another policy's answers."""
    with pytest.raises(ValueError, match="no adapter is in the slot 'd'"):
        TorchEngine(host, STOPS).sample(asked_of(["a", "d"]))
