"""A head in half precision multiplies in fp32; one in fp32 is what it is."""

import pytest
import torch
from torch.nn import functional

from swarm.policy.wide_head import wide_head


@pytest.mark.parametrize("bias", [False, True])
def test_a_bf16_head_is_the_fp32_product_of_its_numbers(bias: bool) -> None:
    torch.manual_seed(0)
    weight, hidden = torch.randn(50, 16).bfloat16(), torch.randn(5, 16).bfloat16()
    added = torch.randn(50).bfloat16() if bias else None
    found = wide_head(weight, added)(hidden)
    expected = hidden.double() @ weight.double().T + (0 if added is None else added.double())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-6)
    narrow = functional.linear(hidden, weight, added).double()
    assert (narrow - expected).abs().max() > 1e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_wider_head_is_left_as_it_is(dtype: torch.dtype) -> None:
    weight, hidden = torch.randn(50, 16, dtype=dtype), torch.randn(5, 16, dtype=dtype)
    assert torch.equal(wide_head(weight, None)(hidden), functional.linear(hidden, weight))
