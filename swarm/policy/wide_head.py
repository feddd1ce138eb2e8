"""The LM head of a base in half precision, its logits in fp32. Engine and learner share it.

A bf16 logit keeps 8 bits: near 10 it is off by up to 0.03, and sampler and learner, whose hidden
states differ in the last bit, round it apart. Products of bf16 numbers are exact in fp32, so the
sum alone is rounded there.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional


def wide_head(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """hidden [M, D] -> logits [M, V] = hidden x weight + bias, in fp32 at least and without a
    gradient. Of a weight in half precision a CPU keeps an fp32 copy while the result lives."""
    wide = torch.promote_types(weight.dtype, torch.float32)
    if weight.dtype == wide:
        return partial(functional.linear, weight=weight, bias=bias)
    wide_bias = None if bias is None else bias.detach().to(wide)
    if weight.is_cuda:
        return partial(_on_cuda, weight=weight.detach(), bias=wide_bias)
    return partial(_by_a_copy, weight=weight.detach().to(wide), bias=wide_bias)


def _by_a_copy(hidden_MD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return functional.linear(hidden_MD.to(weight.dtype), weight, bias)


def _on_cuda(hidden_MD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The tensor cores sum in fp32 as it is; only their result is kept so."""
    logits_MV = torch.mm(hidden_MD, weight.t(), out_dtype=torch.float32)
    return logits_MV if bias is None else logits_MV.add_(bias)
