"""fp32 masters of weights that compute in bf16 (mixed precision, Micikevicius et al. 2018,
arXiv:1710.03740).

A step of 1e-6 on a weight of 0.05 is below half of bf16's spacing there (2^-13 = 1.2e-4), so
weights that train in bf16 stand still. Here the model's own weights are the rounded view of fp32
masters; gradients, their sum over micro-batches, moments and steps are fp32. A gradient of a weight
is never rounded on its way: each module has a tap that forms it from the module's input and the
gradient of its output, both bf16, in fp32. So sums over micro-batches are exact to fp32. What these
can still change is the rounding of activations, 2^-9 of each, where a product of another shape is
summed in another order.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call


class Masters:
    """The fp32 masters of all weights of `model`, by the names of `model.named_parameters()`. The
    model's own weights take no gradient from here on."""

    def __init__(self, model: nn.Module) -> None:
        self._views = dict(model.named_parameters())
        self.parameters = {n: nn.Parameter(p.detach().float()) for n, p in self._views.items()}
        of_view = {id(p): self.parameters[n] for n, p in self._views.items()}  # tied ones have one
        model.requires_grad_(False)
        for module in model.modules():
            own = {n: of_view[id(p)] for n, p in module.named_parameters(recurse=False)}
            if own:
                module.masters = own  # type: ignore[assignment]
                module.register_forward_hook(_tap, with_kwargs=True)

    @torch.no_grad()
    def refresh(self) -> None:
        """Round the masters into the weights that compute."""
        for name, view in self._views.items():
            view.copy_(self.parameters[name])


def trained(module: nn.Module) -> Mapping[str, Tensor | None]:
    """The tensors that take a module's gradients, by name: its masters, or its own weights."""
    masters: Mapping[str, Tensor | None] | None = getattr(module, "masters", None)
    return masters or dict(module.named_parameters(recurse=False))


def _tap(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
    """The output of a module as it is, with the masters on its backward path."""
    own: Mapping[str, nn.Parameter] = module.masters
    run_again = any(p.dtype == torch.float32 for p in module.parameters(recurse=False))
    if run_again or not torch.is_grad_enabled():
        return None
    if type(module) is nn.Linear:
        return _LinearTap.apply(output, args[0], own["weight"], own.get("bias"))  # type: ignore[no-untyped-call]
    if type(module) is nn.Embedding:
        return _EmbeddingTap.apply(output, args[0], own["weight"], module.padding_idx)  # type: ignore[no-untyped-call]
    return _ModuleTap.apply(output, module, args, kwargs, *own.values())  # type: ignore[no-untyped-call]


class _LinearTap(torch.autograd.Function):
    """y = W x + b: dW = dy^T x, db = dy, summed over rows."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.biased = bias is not None
        return y.view_as(y)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        grad_NO = grads[0].flatten(0, -2).float()
        grad_weight = grad_NO.t() @ x.flatten(0, -2).float()
        return grads[0], None, grad_weight, grad_NO.sum(0) if ctx.biased else None


class _EmbeddingTap(torch.autograd.Function):
    """y = W[ids]: each row of dW is the sum of the dy of its id; that of padding is not trained."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, ids: Tensor, weight: Tensor, padding: int | None) -> Tensor:
        ctx.save_for_backward(ids)
        ctx.shape, ctx.padding = weight.shape, padding
        return y.view_as(y)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (ids,) = ctx.saved_tensors
        grad_VD = grads[0].new_zeros(ctx.shape, dtype=torch.float32)
        grad_VD.index_add_(0, ids.flatten(), grads[0].flatten(0, -2).float())
        if ctx.padding is not None:
            grad_VD[ctx.padding] = 0
        return None, None, grad_VD, None


class _ModuleTap(torch.autograd.Function):
    """Any other module (norms, …): run once more in fp32, with its weights as they computed."""

    @staticmethod
    def forward(
        ctx: Any, y: Tensor, module: nn.Module, args: Any, kwargs: Any, *masters: Tensor
    ) -> Tensor:
        ctx.module, ctx.args, ctx.kwargs = module, args, kwargs
        return y.view_as(y)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        own = {
            name: p.detach().float().requires_grad_()
            for name, p in ctx.module.named_parameters(recurse=False)
        }
        args, kwargs = (_wide(inputs) for inputs in (ctx.args, ctx.kwargs))
        with torch.enable_grad():
            y = functional_call(ctx.module, own, args, kwargs)
        of_masters = torch.autograd.grad(y, list(own.values()), grads[0].to(y.dtype))
        return grads[0], None, None, None, *of_masters


def _wide(inputs: Any) -> Any:
    """Positional or named inputs, floats among them detached and in fp32."""
    if isinstance(inputs, Mapping):
        return {name: _widened(value) for name, value in inputs.items()}
    return tuple(map(_widened, inputs))


def _widened(value: Any) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.detach().float()
    return value
