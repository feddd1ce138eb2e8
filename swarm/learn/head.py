"""The LM head and its softmax on the rows that predict a trained token, a chunk of rows at a time.

No [M, V] matrix is kept. With z the logits over the temperature, p = softmax(z), H = -sum p log p
and W the head's weight, the slopes of what a row yields are

    d log p_t / d hidden = (W_t - p W) / T           d H / d hidden = -(p (z - E_p z)) W / T

A frozen head forms them in the forward pass, while a chunk's p is at hand: what is kept for the
backward pass is [M, D]. A head that trains needs p again for its own gradient and recomputes it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from swarm.policy.masters import trained
from swarm.policy.wide_head import wide_head

#: Logits in flight, in elements: 16 MiB in fp32, near what a core's share of the cache holds.
CHUNK = 2**22


def score(
    head: nn.Linear, hidden_MD: Tensor, targets_M: Tensor, temperature: float, entropy_grad: bool
) -> tuple[Tensor, Tensor]:
    """log softmax(head(hidden) / `temperature`) at each row's target, and the entropy of that law,
    both [M], from logits in fp32 at least. Entropy has a gradient if `entropy_grad`."""
    own = trained(head)
    logprobs, entropy = _Head.apply(  # type: ignore[no-untyped-call]
        hidden_MD,
        own["weight"],
        own.get("bias"),
        head.weight.detach(),
        None if head.bias is None else head.bias.detach(),
        targets_M,
        temperature,
        entropy_grad,
    )
    return logprobs, entropy


@dataclass(frozen=True)
class _Law:
    """A chunk's softmax, unnormalised: `logits` [C, V] with their maximum at 0, their exponentials
    and the sum of these [C, 1]; E_p of the logits, [C, 1]."""

    logits: Tensor
    exponentials: Tensor
    total: Tensor
    mean: Tensor

    def logprobs(self, targets_C: Tensor) -> Tensor:
        return (self.logits.gather(1, targets_C[:, None]) - self.total.log()).squeeze(1)

    def entropy(self) -> Tensor:
        return (self.total.log() - self.mean).squeeze(1)


def _law(hidden_CD: Tensor, head: Callable[[Tensor], Tensor], temperature: float) -> _Law:
    logits_CV = head(hidden_CD)
    if temperature != 1:
        logits_CV.div_(temperature)
    logits_CV.sub_(logits_CV.amax(-1, keepdim=True))
    exponentials_CV = logits_CV.exp()
    total = exponentials_CV.sum(-1, keepdim=True)
    mean = torch.linalg.vecdot(exponentials_CV, logits_CV)[:, None] / total
    return _Law(logits_CV, exponentials_CV, total, mean)


def _chunks(rows: int, vocabulary: int) -> Iterator[slice]:
    size = max(1, CHUNK // vocabulary)
    return (slice(start, start + size) for start in range(0, rows, size))


class _Head(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden_MD: Tensor,
        own_weight: Tensor,
        own_bias: Tensor | None,
        weight: Tensor,
        bias: Tensor | None,
        targets_M: Tensor,
        temperature: float,
        entropy_grad: bool,
    ) -> tuple[Tensor, Tensor]:
        """`weight` and `bias` compute; the gradients are those of `own_weight` and `own_bias`."""
        needs_hidden, trains, *_ = ctx.needs_input_grad
        head = wide_head(weight, bias)
        logprobs, entropies, slopes, entropy_slopes = [], [], [], []
        for rows in _chunks(len(hidden_MD), len(weight)):
            targets_C = targets_M[rows]
            law = _law(hidden_MD[rows], head, temperature)
            logprobs.append(law.logprobs(targets_C))
            entropies.append(law.entropy())
            if trains or not needs_hidden:
                continue
            divisor = law.total * temperature
            expected = law.exponentials.to(weight.dtype) @ weight / divisor
            slopes.append(weight[targets_C] / temperature - expected)
            if entropy_grad:
                tilted = law.logits.sub_(law.mean).mul_(law.exponentials)
                entropy_slopes.append(-(tilted.to(weight.dtype) @ weight) / divisor)
        entropy = torch.cat(entropies)
        if not entropy_grad:
            ctx.mark_non_differentiable(entropy)
        frozen = (torch.cat(kept) for kept in (slopes, entropy_slopes) if kept)
        ctx.save_for_backward(*((hidden_MD, weight, bias, targets_M) if trains else frozen))
        ctx.temperature, ctx.entropy_grad, ctx.dtype = temperature, entropy_grad, hidden_MD.dtype
        ctx.own_dtype = own_weight.dtype
        return torch.cat(logprobs), entropy

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Of a frozen head only the hidden states are ever asked about."""
        if ctx.needs_input_grad[1]:
            return *_trained(ctx, grads), None, None, None, None, None
        total = sum(g[:, None] * s for g, s in zip(grads, ctx.saved_tensors, strict=False))
        return total.to(ctx.dtype), *[None] * 7


def _trained(ctx: Any, grads: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    """The gradients of hidden states, weight and bias of a head that trains."""
    hidden_MD, weight, bias, targets_M = ctx.saved_tensors
    wide = grads[0].dtype
    head = wide_head(weight, bias)
    grad_hidden = torch.empty_like(hidden_MD)
    grad_weight = torch.zeros_like(weight, dtype=wide)
    grad_bias = None if bias is None else torch.zeros_like(bias, dtype=wide)
    for rows in _chunks(len(hidden_MD), len(weight)):
        hidden_CD = hidden_MD[rows]
        law = _law(hidden_CD, head, ctx.temperature)
        of_logprob = grads[0][rows, None]
        slope_CV = -of_logprob
        if ctx.entropy_grad:
            slope_CV = slope_CV - law.logits.sub_(law.mean).mul_(grads[1][rows, None])
        of_logits = law.exponentials.div_(law.total).mul_(slope_CV)
        of_logits.scatter_add_(1, targets_M[rows, None], of_logprob)
        of_logits.div_(ctx.temperature)
        grad_hidden[rows] = of_logits.to(weight.dtype) @ weight
        grad_weight.addmm_(of_logits.t(), hidden_CD.to(wide))
        if grad_bias is not None:
            grad_bias += of_logits.sum(0)
    of_bias = None if grad_bias is None else grad_bias.to(ctx.own_dtype)
    return grad_hidden, grad_weight.to(ctx.own_dtype), of_bias
