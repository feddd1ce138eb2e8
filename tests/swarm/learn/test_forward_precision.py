"""A bf16 base: the head multiplies in fp32, in learner and engine."""

import numpy as np
import pytest
import torch
from support.forests import random_node, with_tokens
from torch import nn

from swarm.engine.torch_engine import TorchEngine
from swarm.learn.forward import trained_logprobs
from swarm.policy.lora import AdapterHost
from swarm.records import SampleRequest, TokenTree


@pytest.fixture
def half(random_llama: nn.Module) -> AdapterHost:
    return AdapterHost.wrap(random_llama.to(torch.bfloat16))


def test_log_probabilities_are_of_fp32_logits(half: AdapterHost) -> None:
    """One node, so that the hidden states are those of a plain row, to the bit."""
    row, answer = torch.tensor([[3, 4, 5, 6, 7, 8, 9]]), torch.tensor([6, 7, 8, 9])
    mask = np.array([False] * 3 + [True] * 4)
    node = with_tokens(random_node(np.random.default_rng(0), 7, None, mask), row[0].tolist())
    with torch.no_grad(), half.routing.using(None):
        seen = trained_logprobs(half.model, [TokenTree((node,))], 1.0)
        hidden_TD = half.model.get_decoder()(row).last_hidden_state[0, 2:-1]
        head = half.model.get_output_embeddings()  # type: ignore[operator]
        logits_TV = head(hidden_TD)
        wide_TV = hidden_TD.float() @ head.weight.float().T
    assert (logits_TV.dtype, seen.logprobs.dtype) == (torch.bfloat16, torch.float32)
    wide, narrow = (torch.log_softmax(x, -1) for x in (wide_TV, logits_TV.float()))
    places = torch.arange(4), answer
    torch.testing.assert_close(seen.logprobs, wide[places], atol=1e-6, rtol=0)
    assert (narrow[places] - wide[places]).abs().max() > 1e-3


def test_the_sampler_reports_a_law_that_sums_to_one(half: AdapterHost) -> None:
    engine = TorchEngine(half, frozenset({0}))
    ((one,),) = engine.sample([SampleRequest((3, 4), (7,), 1)])
    with torch.no_grad(), half.routing.using(None):
        hidden_D = half.model.get_decoder()(torch.tensor([[3, 4]])).last_hidden_state[0, -1]
        head = half.model.get_output_embeddings()  # type: ignore[operator]
    law_V = torch.log_softmax(head.weight.float() @ hidden_D.float(), -1)
    assert one.logprobs[0] == pytest.approx(law_V[one.tokens[0]].item(), abs=1e-6)
