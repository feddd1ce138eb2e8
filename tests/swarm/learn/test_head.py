"""The chunked LM head against log_softmax of all logits at once."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from swarm.learn import head as head_module
from swarm.learn.head import score

ROWS, WIDTH, VOCABULARY = 7, 5, 11
TEMPERATURE = 0.7


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows a chunk, so that seven rows are three chunks, the last one short."""
    monkeypatch.setattr(head_module, "CHUNK", 3 * VOCABULARY)


def case(dtype: torch.dtype, *, bias: bool, trained: bool) -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(0)
    head = nn.Linear(WIDTH, VOCABULARY, bias=bias).to(dtype).requires_grad_(trained)
    hidden = torch.randn(ROWS, WIDTH, dtype=dtype, requires_grad=True)
    return head, hidden, torch.randint(VOCABULARY, (ROWS,))


def plainly(head: nn.Linear, hidden_MD: Tensor, targets_M: Tensor) -> tuple[Tensor, Tensor]:
    laws_MV = torch.log_softmax(head(hidden_MD) / TEMPERATURE, dim=-1)
    entropy = -(laws_MV.exp() * laws_MV).sum(-1)
    return laws_MV.gather(1, targets_M[:, None]).squeeze(1), entropy


def gradients(found: tuple[Tensor, Tensor], inputs: list[Tensor], entropy: bool) -> Iterator:
    weights = torch.linspace(-1, 1, ROWS, dtype=found[0].dtype)
    loss = (weights * found[0]).sum()
    if entropy:
        loss = loss + (weights.square() * found[1]).sum()
    return iter(torch.autograd.grad(loss, inputs))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("entropy", [False, True])
class TestAgainstThePlainSoftmax:
    def test_values_and_gradients(self, bias: bool, trained: bool, entropy: bool) -> None:
        head, hidden, targets = case(torch.float32, bias=bias, trained=trained)
        found = score(head, hidden, targets, TEMPERATURE, entropy)
        truth = plainly(head, hidden, targets)
        for ours, theirs in zip(found, truth, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
        inputs = [hidden, *(head.parameters() if trained else ())]
        pairs = zip(
            gradients(found, inputs, entropy), gradients(truth, inputs, entropy), strict=True
        )
        for ours, theirs in pairs:
            torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)

    def test_finite_differences(self, bias: bool, trained: bool, entropy: bool) -> None:
        head, hidden, targets = case(torch.float64, bias=bias, trained=trained)

        def of(hidden_MD: Tensor, *_: Tensor) -> tuple[Tensor, ...]:
            found = score(head, hidden_MD, targets, TEMPERATURE, entropy)
            return found if entropy else found[:1]

        assert torch.autograd.gradcheck(of, (hidden, *(head.parameters() if trained else ())))


def test_entropy_has_a_gradient_only_when_asked() -> None:
    head, hidden, targets = case(torch.float32, bias=False, trained=False)
    assert not score(head, hidden, targets, 1.0, False)[1].requires_grad
    assert score(head, hidden, targets, 1.0, True)[1].requires_grad


@pytest.mark.parametrize("trained", [False, True])
def test_nothing_as_large_as_the_logits_is_kept(trained: bool) -> None:
    """What a graph saves is at most as large as the hidden states or the head itself."""
    head, hidden, targets = case(torch.float32, bias=False, trained=trained)
    kept: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: kept.append(x.numel()) or x, lambda x: x
    ):
        score(head, hidden, targets, 1.0, True)
    assert kept
    assert max(kept) < ROWS * VOCABULARY


def test_a_bf16_head_multiplies_in_fp32() -> None:
    head, hidden, targets = case(torch.bfloat16, bias=False, trained=False)
    logprobs, entropy = score(head, hidden, targets, 1.0, True)
    wide_MV = (hidden.float() @ head.weight.float().T).log_softmax(-1)
    assert logprobs.dtype == entropy.dtype == torch.float32
    truth = wide_MV.gather(1, targets[:, None]).squeeze(1)
    torch.testing.assert_close(logprobs, truth, atol=1e-6, rtol=0)
    (logprobs.sum() + entropy.sum()).backward()
    assert hidden.grad is not None
    assert hidden.grad.dtype == torch.bfloat16
