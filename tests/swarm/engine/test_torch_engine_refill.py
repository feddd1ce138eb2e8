"""Refill: whatever the number of rows and the order of arrivals, each completion is its own, and no
token goes through the model that need not."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.models import gpt2, host_with_adapters, llama
from torch import nn

from swarm import seeds
from swarm.engine import kv_cache, prefill
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.lora import AdapterHost
from swarm.records import Completion, SampleRequest, StopReason

STOPS = frozenset({1})
FP32 = 1e-5


def request(
    length: int, members: int = 1, max_tokens: int = 12, temperature: float = 1.0, **more: str
) -> SampleRequest:
    """A prompt of some length; seeds follow from all there is."""
    prompt = tuple(2 + (7 * i + length) % 20 for i in range(length))
    drawn = tuple(seeds.derive("refill", *prompt, max_tokens, m) for m in range(members))
    return SampleRequest(prompt, drawn, max_tokens, temperature, **more)


def close(found: Sequence[Completion], truth: Sequence[Completion]) -> bool:
    return len(found) == len(truth) and all(
        (f.tokens, f.stop) == (t.tokens, t.stop)
        and np.allclose(f.logprobs, t.logprobs, atol=FP32, rtol=0)
        for f, t in zip(found, truth, strict=True)
    )


@contextmanager
def passes_of(host: AdapterHost) -> Iterator[list[tuple[int, int]]]:
    """(rows, tokens a row) of every pass through the trunk within the context."""
    seen: list[tuple[int, int]] = []

    def note(module: nn.Module, args: object, kwargs: dict[str, torch.Tensor]) -> None:
        seen.append(tuple(kwargs["input_ids"].shape))

    handle = host.model.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


@pytest.mark.parametrize("max_rows", [1, 2, 3, 5, 8, 64])
def test_refill_equals_no_refill(max_rows: int) -> None:
    host = AdapterHost.wrap(llama())
    asked = [request(n, members=n % 4 + 1, max_tokens=4 + 3 * n) for n in range(1, 9)]
    truth = TorchEngine(host, STOPS).sample(asked)
    assert all(map(close, TorchEngine(host, STOPS, max_rows).sample(asked), truth))


@settings(max_examples=15)
@given(
    arrivals=st.lists(
        st.builds(
            request,
            st.integers(1, 40),
            st.integers(1, 4),
            st.integers(1, 15),
            st.sampled_from([0.5, 1.0, 1.6]),
        ),
        max_size=7,
    ),
    max_rows=st.integers(1, 6),
    at_once=st.sampled_from([0, kv_cache.AT_ONCE]),
)
def test_any_arrivals(arrivals: list[SampleRequest], max_rows: int, at_once: int) -> None:
    host = AdapterHost.wrap(llama())
    asked = [dataclasses.replace(a, seeds=(*a.seeds, i)) for i, a in enumerate(arrivals)]
    alone = [TorchEngine(host, STOPS).sample([one])[0] for one in asked]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kv_cache, "AT_ONCE", at_once)
        found = TorchEngine(host, STOPS, max_rows).sample(asked)
    assert all(map(close, found, alone))


def test_a_group_larger_than_the_batch() -> None:
    host = AdapterHost.wrap(llama())
    asked = [request(5, members=11)]
    with passes_of(host) as seen:
        found = TorchEngine(host, STOPS, 4).sample(asked)
    assert close(found[0], TorchEngine(host, STOPS).sample(asked)[0])
    assert [shape for shape in seen if shape[1] > 1] == [(1, 5)]  # one prefill for all members


@pytest.mark.parametrize("at_once", [0, kv_cache.AT_ONCE])
def test_rows_grow_far_beyond_their_prompts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 2 tokens to 120, on rotary and learned positions; the cache has room from the start, or
    grows."""
    monkeypatch.setattr(kv_cache, "AT_ONCE", at_once)
    for build, length in ((llama, 118), (gpt2, 60)):
        host = AdapterHost.wrap(build())
        ((long, short),) = TorchEngine(host, frozenset()).sample([request(2, 2, length)])
        assert len(long.tokens) == len(short.tokens) == length
        tokens = torch.tensor([[*request(2).prompt, *long.tokens]])
        with torch.no_grad():
            law_TV = torch.log_softmax(host.model(tokens).logits[0, 1:-1], -1)
        truth = law_TV.gather(1, tokens[0, 2:, None])[:, 0]
        np.testing.assert_allclose(long.logprobs, truth, atol=2 * FP32, rtol=0)


class TestTheContext:
    """A prompt that fills the context has no completion; a budget beyond it is cut there."""

    @pytest.mark.parametrize("max_rows", [1, 8])
    def test_too_long_or_just_fitting(self, max_rows: int) -> None:
        host = AdapterHost.wrap(gpt2())  # 64 learned positions: one more would be an error
        engine = TorchEngine(host, frozenset(), max_rows)
        asked = [request(64, 2), request(9, 2), request(63, 2), request(60, 1), request(80)]
        overlong, usual, one, four, beyond = engine.sample(asked)
        empty = Completion((), (), StopReason.OVERLONG)
        assert overlong == [empty, empty]
        assert beyond == [empty]
        for completions, tokens in ((usual, 12), (one, 1), (four, 4)):
            assert {(len(c.tokens), c.stop) for c in completions} == {(tokens, StopReason.LENGTH)}
        assert close(usual, engine.sample([asked[1]])[0])

    def test_a_place_may_be_left_for_one_token_more(self) -> None:
        """A value is read one token past a row that its budget ended."""
        engine = TorchEngine(AdapterHost.wrap(gpt2()), frozenset(), longest=63)
        full, cut = engine.sample([request(63, 2), request(60, 1)])
        assert {c.stop for c in full} == {StopReason.OVERLONG}
        assert {len(c.tokens) for c in cut} == {3}

    def test_nothing_but_overlong_prompts(self) -> None:
        engine = TorchEngine(AdapterHost.wrap(gpt2()), STOPS)
        assert {c.stop for c in engine.sample([request(64, 3)])[0]} == {StopReason.OVERLONG}


class TestWork:
    """Exact counts of what goes through the trunk: the same on a busy machine."""

    def test_each_prompt_once_and_each_row_once_a_token(self) -> None:
        host = AdapterHost.wrap(llama())
        asked = [request(6, members=5, max_tokens=20) for _ in range(6)]
        asked = [dataclasses.replace(a, seeds=(*a.seeds, i)) for i, a in enumerate(asked)]
        with passes_of(host) as seen:
            found = TorchEngine(host, STOPS, 8).sample(asked)
        lengths = [len(c.tokens) for completions in found for c in completions]
        prefills = [rows * width for rows, width in seen if width > 1]
        assert sum(prefills) == 6 * 6
        # A prompt's last state predicts the first token, and the last token is fed to nothing.
        assert sum(rows for rows, width in seen if width == 1) == sum(lengths) - len(lengths)
        assert max(rows for rows, width in seen if width == 1) == 8

    def test_prefills_come_in_batches(self) -> None:
        """Not one a freed row: at least an eighth of the rows at a time, while so many wait."""
        host = AdapterHost.wrap(llama())
        asked = [dataclasses.replace(request(6 + i % 2), seeds=(i,)) for i in range(160)]
        with passes_of(host) as seen:
            TorchEngine(host, STOPS, 32).sample(asked)
        sizes = [rows for rows, width in seen if width > 1]
        assert sum(sizes) == 160
        assert min(sizes[:-1]) >= 4

    def test_a_batch_is_kept_full(self) -> None:
        """While others wait no more than an eighth of the rows is idle in a step."""
        host = AdapterHost.wrap(llama())
        asked = [dataclasses.replace(request(6 + i % 2), seeds=(i,)) for i in range(160)]
        with passes_of(host) as seen:
            TorchEngine(host, STOPS, 32).sample(asked)
        last_prefill = max(i for i, (_, width) in enumerate(seen) if width > 1)
        assert min(rows for rows, width in seen[1:last_prefill] if width == 1) >= 28 - 4


class TestTheCommonPrefix:
    """What all prompts begin with goes through the trunk once a slot, and changes no completion."""

    @settings(max_examples=30)
    @given(
        prefix=st.lists(st.integers(2, 23), min_size=1, max_size=20),
        rests=st.lists(
            st.tuples(
                st.lists(st.integers(2, 23), min_size=1, max_size=9),
                st.sampled_from(["a", "b", None]),
            ),
            min_size=2,
            max_size=6,
        ),
        build=st.sampled_from([llama, gpt2]),
        max_rows=st.integers(1, 9),
    )
    def test_as_if_alone(
        self,
        prefix: list[int],
        rests: list[tuple[list[int], str | None]],
        build: Callable[[], nn.Module],
        max_rows: int,
    ) -> None:
        host = host_with_adapters(build())  # gpt2 has no linear layers to adapt
        asked = [
            SampleRequest((*prefix, *rest), (i, 100 + i), 8, slot=slot if build is llama else None)
            for i, (rest, slot) in enumerate(rests)
        ]
        alone = [TorchEngine(host, STOPS).sample([one])[0] for one in asked]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(prefill, "WORTH", 1)
            found = TorchEngine(host, STOPS, max_rows).sample(asked)
        assert all(map(close, found, alone))

    def test_with_eager_attention(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Which adds masks, where SDPA takes booleans too."""
        host = AdapterHost.wrap(llama())
        asked = [SampleRequest((5, 6, 7, 8, 2 + i, 9), (i,), 8) for i in range(4)]
        truth = TorchEngine(host, STOPS).sample(asked)
        host.model.set_attn_implementation("eager")
        monkeypatch.setattr(prefill, "WORTH", 1)
        assert all(map(close, TorchEngine(host, STOPS).sample(asked), truth))

    def test_its_tokens_are_counted_once_a_slot(self) -> None:
        host = host_with_adapters(llama())
        prefix = tuple(2 + i % 20 for i in range(70))
        asked = [SampleRequest((*prefix, 2 + i, 3), (i,), 5, slot="ab"[i % 2]) for i in range(12)]
        with passes_of(host) as seen:
            TorchEngine(host, STOPS, 64).sample(asked)
        assert [shape for shape in seen if shape[1] > 1] == [(2, 70), (12, 2)]

    def test_a_prompt_that_is_the_prefix_keeps_its_last_token(self) -> None:
        host = AdapterHost.wrap(llama())
        asked = [SampleRequest((3,) * n, (n,), 5) for n in range(60, 75)]
        with passes_of(host) as seen:
            TorchEngine(host, STOPS, 64).sample(asked)
        assert seen[:2] == [(1, 59), (15, 15)]

    def test_no_pass_of_its_own_where_little_is_saved(self) -> None:
        host = AdapterHost.wrap(llama())
        asked = [SampleRequest((3,) * 20, (n,), 5) for n in range(20)]
        with passes_of(host) as seen:
            TorchEngine(host, STOPS, 64).sample(asked)
        assert seen[0] == (20, 20)


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    """Mixed rows with refill on CUDA, against the CPU: log-probabilities of the same tokens."""
    asked = [request(n, members=3, slot=slot) for n, slot in ((3, "a"), (9, "b"), (5, "c"))]
    host = host_with_adapters(llama())
    truth = TorchEngine(host, STOPS, 4).sample(asked)
    host.model.to("cuda")
    for layer in host.layers.values():
        for pair in layer.pairs.values():
            pair.a.data, pair.b.data = pair.a.data.cuda(), pair.b.data.cuda()
    found = TorchEngine(host, STOPS, 4).sample(asked)
    for completions, others in zip(found, truth, strict=True):
        for a, b in zip(completions, others, strict=True):
            assert a.tokens == b.tokens
            np.testing.assert_allclose(a.logprobs, b.logprobs, atol=1e-4)
