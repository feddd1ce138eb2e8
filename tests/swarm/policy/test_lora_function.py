"""The fused adapter layer against plain autograd and against PEFT."""

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn

from swarm.policy.lora import AdapterHost
from swarm.policy.lora_function import adapted_linear


def inputs(dtype: torch.dtype, *, bias: bool = True) -> list[Tensor | None]:
    torch.manual_seed(0)
    shapes = [(2, 3, 5), (4, 5), (4,), (2, 5), (4, 2)]
    tensors = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    return [t if bias or i != 2 else None for i, t in enumerate(tensors)]


@pytest.mark.parametrize("bias", [False, True])
def test_finite_differences(bias: bool) -> None:
    """Base weight and bias included, for who trains them too."""
    given = inputs(torch.float64, bias=bias)
    assert torch.autograd.gradcheck(lambda *args: adapted_linear(*args, 1.5), given)


def test_a_bf16_base_takes_an_fp32_update() -> None:
    x, weight, bias, a, b = inputs(torch.float32)
    half = [t.detach().bfloat16() for t in (x, weight, bias)]
    half[0].requires_grad_()
    y = adapted_linear(*half, a, b, 1.5)
    update = (half[0].float() @ a.t() @ b.t()) * 1.5
    truth = nn.functional.linear(*half).float() + update
    torch.testing.assert_close(y.float(), truth, atol=0.05, rtol=0.01)
    y.float().square().sum().backward()
    assert (half[0].grad.dtype, a.grad.dtype, b.grad.dtype) == (
        torch.bfloat16,
        torch.float32,
        torch.float32,
    )


def test_it_equals_peft(random_llama: nn.Module) -> None:
    """Logits and every adapter gradient, on one set of weights."""
    import copy

    config = LoraConfig(r=4, lora_alpha=12, target_modules=["q_proj", "up_proj"])
    peft_model = get_peft_model(copy.deepcopy(random_llama), config).eval()
    host = AdapterHost.wrap(random_llama)
    pairs = host.create("a", 4, 12.0, "all", 0)
    theirs: dict[str, Tensor] = {}
    for path, pair in pairs.items():
        if path.rpartition(".")[2] not in {"q_proj", "up_proj"}:
            continue
        layer = peft_model.get_submodule(f"base_model.model.{path}")
        pair.b.data.normal_(0, 0.2)
        for name, ours in (("lora_A", pair.a), ("lora_B", pair.b)):
            weight = getattr(layer, name)["default"].weight
            weight.data.copy_(ours.data)
            theirs[f"{path}.{name}"] = weight
    batch = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10]])
    truth = peft_model(batch).logits
    truth.square().mean().backward()
    with host.routing.using("a"):
        found = random_llama(batch).logits
    found.square().mean().backward()
    torch.testing.assert_close(found, truth, atol=1e-5, rtol=1e-5)
    for key, weight in theirs.items():
        path, _, name = key.rpartition(".")
        ours = {"lora_A": pairs[path].a, "lora_B": pairs[path].b}[name]
        torch.testing.assert_close(ours.grad, weight.grad, atol=1e-6, rtol=1e-4)
