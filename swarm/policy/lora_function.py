"""W x + scale B A x as one differentiable operation, without temporaries of its output's size."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def adapted_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scale: float
) -> Tensor:
    """`x` [..., in] through `weight` [out, in] and the low-rank update `scale` x `b` [out, rank]
    x `a` [rank, in]; [..., out] in the dtype of `weight`. The update is computed in its own dtype.
    """
    y: Tensor = _AdaptedLinear.apply(x, weight, bias, a, b, scale)  # type: ignore[no-untyped-call]
    return y


class _AdaptedLinear(torch.autograd.Function):
    """Plain autograd would keep B A x, its scaled copy and their sum; here the update is added
    in place, and of the forward pass only x and the [N, rank] product A x are kept."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        a: Tensor,
        b: Tensor,
        scale: float,
    ) -> Tensor:
        x_NI = x.flatten(0, -2)
        low_NR = x_NI.to(a.dtype) @ a.t()
        y = functional.linear(x, weight, bias)  # not a view: a model may change it in place
        _add_product(y.flatten(0, -2), low_NR, b.t(), scale)
        ctx.save_for_backward(x, weight, a, b, low_NR)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, a, b, low_NR = ctx.saved_tensors
        needs_x, needs_weight, needs_bias, needs_a, needs_b, _ = ctx.needs_input_grad
        x_NI, grad_NO = x.flatten(0, -2), grads[0].flatten(0, -2)
        wide_NO = grad_NO.to(b.dtype)
        grad_NR = (wide_NO @ b).mul_(ctx.scale)
        grad_x = None
        if needs_x:
            grad_NI = grad_NO @ weight
            _add_product(grad_NI, grad_NR, a, 1.0)
            grad_x = grad_NI.view_as(x)
        return (
            grad_x,
            grad_NO.t() @ x_NI if needs_weight else None,
            grad_NO.sum(0) if needs_bias else None,
            grad_NR.t() @ x_NI.to(a.dtype) if needs_a else None,
            (wide_NO.t() @ low_NR).mul_(ctx.scale) if needs_b else None,
            None,
        )


def _add_product(out: Tensor, left: Tensor, right: Tensor, scale: float) -> None:
    """out += scale x left @ right, in place; rounded once where `out` is narrower."""
    if out.dtype == left.dtype:
        out.addmm_(left, right, alpha=scale)
    else:
        out.add_((left @ right).mul_(scale))
