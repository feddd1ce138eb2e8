"""SmolLM2 in fp32: what the engine says it sampled, the learner and a plain pass say too."""

import numpy as np
import pytest
import torch

from swarm import seeds
from swarm.config.parts import ModelSettings
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.forward import trained_logprobs
from swarm.models import smollm2
from swarm.policy.base_model import Base, load_base
from swarm.records import Completion, SampleRequest, TokenTree, action_node, context_node

pytestmark = pytest.mark.models

PROMPTS = ("The capital of France is", "Once upon a time", "2 + 2 =", "To bake bread, first mix")
MEAN, MOST = 1e-5, 1e-4


@pytest.fixture(scope="module")
def base() -> Base:
    """With two adapters that move the law."""
    smollm2.add()
    base = load_base(ModelSettings(ref=smollm2.NAME), "cpu")
    for number, slot in enumerate(("a", "b")):
        torch.manual_seed(number)
        for pair in base.host.create(slot, 16, 32.0, "all", number).values():
            pair.b.data.normal_(0, 0.01)
    return base


def asked(base: Base, count: int) -> list[SampleRequest]:
    slots = ("a", "b", None)
    return [
        SampleRequest(
            tuple(base.tokenizer(PROMPTS[i % len(PROMPTS)]).input_ids),
            (seeds.derive("parity", i, 0), seeds.derive("parity", i, 1)),
            24,
            slot=slots[i % 3],
        )
        for i in range(count)
    ]


def close(found: np.ndarray, truth: np.ndarray) -> bool:
    gaps = np.abs(found - truth)
    return gaps.mean() <= MEAN and gaps.max() <= MOST


def learners(base: Base, request: SampleRequest, completions: list[Completion]) -> np.ndarray:
    tree = TokenTree(
        (context_node(request.prompt), *(action_node(c.tokens, 0) for c in completions))
    )
    with torch.no_grad(), base.host.routing.using(request.slot):
        return trained_logprobs(base.host.model, [tree], 1.0).logprobs.numpy()


def plain(base: Base, request: SampleRequest, completion: Completion) -> np.ndarray:
    """One row through the whole model, no cache. The softmax is double: torch's in fp32 is off by
    1e-5 in the mean over so large a vocabulary."""
    tokens = torch.tensor([[*request.prompt, *completion.tokens]])
    with torch.no_grad(), base.host.routing.using(request.slot):
        logits_TV = base.host.model(tokens).logits[0, len(request.prompt) - 1 : -1]
    law_TV = torch.log_softmax(logits_TV.double(), -1)
    return law_TV.gather(1, torch.tensor(completion.tokens)[:, None])[:, 0].numpy()


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("max_rows", [3, 64])
def test_sampler_learner_and_plain_pass_agree(base: Base, count: int, max_rows: int) -> None:
    requests = asked(base, count)
    found = TorchEngine(base.host, base.stop_tokens, max_rows).sample(requests)
    for request, completions in zip(requests, found, strict=True):
        sampled = np.concatenate([c.logprobs for c in completions])
        assert close(sampled, learners(base, request, completions))
        rows = [plain(base, request, c) for c in completions]
        assert close(sampled, np.concatenate(rows))
