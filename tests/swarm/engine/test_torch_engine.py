"""The engine: its law, its records, and that batching cannot be seen in them."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.models import VOCABULARY, gpt2, llama
from torch import nn

from swarm import seeds
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.forward import trained_logprobs
from swarm.policy.lora import AdapterHost
from swarm.records import (
    Completion,
    SampleRequest,
    StopReason,
    TokenTree,
    action_node,
    context_node,
)

STOPS = frozenset({1})
#: fp32 sums of other shapes; decode against re-prefill.
FP32 = 1e-5


def request(
    prompt: Sequence[int], members: int = 4, max_tokens: int = 12, temperature: float = 1.0
) -> SampleRequest:
    """Seeds follow from the prompt and member, as in a run."""
    member_seeds = tuple(seeds.derive("test", *prompt, m) for m in range(members))
    return SampleRequest(tuple(prompt), member_seeds, max_tokens, temperature)


REQUESTS = [
    request([5]),
    request([3, 4, 5, 6, 7, 8, 9], members=3),
    request([2, 1, 2], members=6, max_tokens=20),
    request([11, 12], members=2, max_tokens=1, temperature=0.6),
    request([13, 14, 15], members=5, max_tokens=9, temperature=1.7),
]


def close(found: Completion, truth: Completion) -> bool:
    """The same tokens and end, log-probabilities within rounding."""
    return (found.tokens, found.stop) == (truth.tokens, truth.stop) and np.allclose(
        found.logprobs, truth.logprobs, atol=FP32, rtol=0
    )


def rescored(
    model: nn.Module, asked: SampleRequest, completions: Sequence[Completion]
) -> list[float]:
    """The learner's log-probabilities of sampled tokens, prompt re-prefilled."""
    actions = [action_node(c.tokens, 0) for c in completions]
    tree = TokenTree((context_node(asked.prompt), *actions))
    with torch.no_grad():
        return trained_logprobs(model, [tree], asked.temperature).logprobs.tolist()


@pytest.mark.parametrize("build", [llama, gpt2])
def test_sampled_logprobs_are_the_learners(build: Callable[[], nn.Module]) -> None:
    """Decode equals re-prefill at each temperature, so an un-updated policy has ratio 1."""
    model = build()
    for asked, completions in zip(
        REQUESTS, TorchEngine(AdapterHost.wrap(model), STOPS).sample(REQUESTS), strict=True
    ):
        sampled = [lp for c in completions for lp in c.logprobs]
        truth = rescored(model, asked, completions)
        np.testing.assert_allclose(sampled, truth, atol=FP32, rtol=0)


@pytest.mark.parametrize("temperature", [0.6, 1.0])
def test_without_an_update_every_ratio_is_one(random_llama: nn.Module, temperature: float) -> None:
    asked = request([3, 4, 5], members=16, temperature=temperature)
    (completions,) = TorchEngine(AdapterHost.wrap(random_llama), STOPS).sample([asked])
    sampled = np.array([lp for c in completions for lp in c.logprobs])
    ratios = np.exp(np.array(rescored(random_llama, asked, completions)) - sampled)
    np.testing.assert_allclose(ratios, 1, atol=FP32)


class TestBatching:
    """A completion depends on its own request alone."""

    @pytest.mark.parametrize("build", [llama, gpt2])
    @pytest.mark.parametrize("max_rows", [1, 7, 512])
    def test_alone_or_together(
        self,
        build: Callable[[], nn.Module],
        max_rows: int,
    ) -> None:
        engine = TorchEngine(AdapterHost.wrap(build()), STOPS, max_rows)
        alone = [engine.sample([asked])[0] for asked in REQUESTS]
        together = engine.sample(REQUESTS)
        for found, truth in zip(together, alone, strict=True):
            assert all(close(f, t) for f, t in zip(found, truth, strict=True))

    @settings(max_examples=6)
    @given(order=st.permutations(range(len(REQUESTS))))
    def test_the_order_of_requests(self, order: list[int]) -> None:
        engine = TorchEngine(AdapterHost.wrap(llama()), STOPS)
        truth = engine.sample(REQUESTS)
        found = engine.sample([REQUESTS[i] for i in order])
        for i, completions in zip(order, found, strict=True):
            assert all(close(f, t) for f, t in zip(completions, truth[i], strict=True))

    def test_no_requests(self, random_llama: nn.Module) -> None:
        assert TorchEngine(AdapterHost.wrap(random_llama), STOPS).sample([]) == []


class TestSeeds:
    def test_members_differ_and_a_rerun_is_equal_to_the_bit(self, random_llama: nn.Module) -> None:
        engine = TorchEngine(AdapterHost.wrap(random_llama), STOPS)
        asked = request([3, 4], members=16)
        (first,), (second,) = engine.sample([asked]), engine.sample([asked])
        assert first == second
        assert len({c.tokens for c in first}) > 12

    def test_equal_seeds_draw_alike_whatever_the_budget(self, random_llama: nn.Module) -> None:
        """A longer budget goes on where a shorter one stopped."""
        engine = TorchEngine(AdapterHost.wrap(random_llama), STOPS)
        short, long = request([3, 4], max_tokens=4), request([3, 4], max_tokens=16)
        for a, b in zip(engine.sample([short])[0], engine.sample([long])[0], strict=True):
            assert b.tokens[:4] == a.tokens


class TestLaw:
    """Draws follow softmax(logits / T) exactly: chi-square over two-token answers, fixed seeds."""

    SMALL, DRAWS = 6, 20_000

    @pytest.mark.parametrize("temperature", [1.0, 0.6])
    def test_two_tokens(self, temperature: float) -> None:
        model = llama(self.SMALL, scale=0.25)
        asked = SampleRequest((2, 3), tuple(range(self.DRAWS)), 2, temperature)
        (completions,) = TorchEngine(
            AdapterHost.wrap(model), frozenset(), max_rows=self.DRAWS
        ).sample([asked])
        counts = np.zeros((self.SMALL, self.SMALL))
        for first, second in (c.tokens for c in completions):
            counts[first, second] += 1
        law = self.joint_law(model, asked)
        assert stats.chisquare(counts.ravel(), self.DRAWS * law.ravel()).pvalue > 1e-3
        # The test would see a temperature that is off by a tenth.
        wrong = self.joint_law(model, dataclasses.replace(asked, temperature=temperature * 1.1))
        assert stats.chisquare(counts.ravel(), self.DRAWS * wrong.ravel()).pvalue < 1e-6

    def joint_law(self, model: nn.Module, asked: SampleRequest) -> np.ndarray:
        """[V, V]: the probability of each pair, from full forward passes."""
        with torch.no_grad():
            rows = [[*asked.prompt, first] for first in range(self.SMALL)]
            logits_VTV = model(torch.tensor(rows)).logits.double() / asked.temperature
        laws_VTV = torch.softmax(logits_VTV, dim=-1)
        joint = (laws_VTV[0, -2][:, None] * laws_VTV[:, -1]).numpy()
        return joint / joint.sum()

    def test_an_impossible_token_is_never_drawn(self, random_llama: nn.Module) -> None:
        """Ids of probability 0 at both ends of the cumulative law and in its middle."""
        impossible = [0, 1, 9, 10, VOCABULARY - 1]
        head = nn.Linear(32, VOCABULARY)
        head.weight.data = random_llama.get_output_embeddings().weight.data
        head.bias.data.zero_()[impossible] = -torch.inf
        random_llama.set_output_embeddings(head)
        asked = SampleRequest((2, 3), tuple(range(2000)), 2)
        (completions,) = TorchEngine(
            AdapterHost.wrap(random_llama), frozenset(), max_rows=2000
        ).sample([asked])
        assert not {t for c in completions for t in c.tokens} & set(impossible)
        assert np.isfinite([c.logprobs for c in completions]).all()


class TestStops:
    def sample(self, stops: frozenset[int], max_tokens: int = 30) -> list[Completion]:
        engine = TorchEngine(AdapterHost.wrap(llama()), stops)
        return engine.sample([request([3, 4], members=40, max_tokens=max_tokens)])[0]

    @pytest.mark.parametrize("stops", [frozenset({1}), frozenset({0}), frozenset({1, 7, 9})])
    def test_a_stop_token_ends_a_completion_and_belongs_to_it(self, stops: frozenset[int]) -> None:
        """Also where it is id 0, with which shorter prompts are padded."""
        completions = self.sample(stops)
        assert {c.stop for c in completions} == {StopReason.STOP, StopReason.LENGTH}
        assert {c.tokens[-1] for c in completions if c.stop == StopReason.STOP} == stops
        for c in completions:
            assert not stops & set(c.tokens[:-1])
            assert (c.stop == StopReason.STOP) == (c.tokens[-1] in stops)
            assert len(c.tokens) == len(c.logprobs)
            assert len(c.tokens) == 30 or c.stop == StopReason.STOP

    def test_the_budget_is_exact(self) -> None:
        assert {len(c.tokens) for c in self.sample(frozenset(), max_tokens=5)} == {5}
        assert {c.stop for c in self.sample(frozenset(), max_tokens=5)} == {StopReason.LENGTH}

    def test_a_stop_token_as_the_last_that_fits_is_a_stop(self) -> None:
        """Truncation means that the policy wanted to go on."""
        long = self.sample(STOPS)
        length = min(len(c.tokens) for c in long if c.stop == StopReason.STOP)
        cut = self.sample(STOPS, max_tokens=length)
        ended = [c for c in cut if c.tokens[-1] in STOPS]
        assert ended
        assert {c.stop for c in ended} == {StopReason.STOP}

    def test_pad_is_eos(self) -> None:
        """A model that pads with its stop token: an EOS in the prompt conditions, a sampled one
        is kept and scored."""
        model = llama()
        model.config.pad_token_id = model.generation_config.pad_token_id = 1
        asked = [request([1, 3, 1], members=20, max_tokens=20), request([2] * 9, members=20)]
        for one, completions in zip(
            asked, TorchEngine(AdapterHost.wrap(model), STOPS).sample(asked), strict=True
        ):
            assert StopReason.STOP in {c.stop for c in completions}
            sampled = [lp for c in completions for lp in c.logprobs]
            np.testing.assert_allclose(sampled, rescored(model, one, completions), atol=FP32)
