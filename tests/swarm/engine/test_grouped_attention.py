"""Attention over grouped keys without repeating them equals transformers' own."""

import pytest
import torch
from support.models import llama
from torch import nn
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from swarm.engine.grouped_attention import Visible, grouped, grouped_attention


@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("heads", [2, 6])
@pytest.mark.parametrize("masked", [True, False])
def test_values_and_gradients(queries: int, heads: int, masked: bool) -> None:
    torch.manual_seed(0)
    module = nn.Module()
    module.num_key_value_groups, module.is_causal = heads // 2, True
    rows, columns, width = 3, 9, 8
    shapes = ((rows, heads, queries, width), *[(rows, 2, columns, width)] * 2)
    tensors = [torch.randn(shape, requires_grad=True) for shape in shapes]
    mask = None
    if masked:
        hidden = torch.arange(columns) > torch.tensor([3, 8, 0])[:, None]
        mask = torch.zeros(rows, 1, 1, columns).masked_fill_(hidden[:, None, None], -torch.inf)
        mask = mask.expand(rows, 1, queries, columns)
    weights = torch.randn(rows, queries, heads, width)
    found, truth = (
        attend(module, *tensors, mask, scaling=0.3)[0]
        for attend in (grouped_attention, sdpa_attention_forward)
    )
    torch.testing.assert_close(found, truth, atol=1e-6, rtol=1e-5)
    gradients, true_gradients = (
        torch.autograd.grad((out * weights).sum(), tensors) for out in (found, truth)
    )
    for gradient, true_gradient in zip(gradients, true_gradients, strict=True):
        torch.testing.assert_close(gradient, true_gradient, atol=1e-6, rtol=1e-5)


def test_the_models_own_attention_is_put_back() -> None:
    decoder = llama().get_decoder()
    with grouped(decoder):
        assert decoder.config._attn_implementation == "grouped_sdpa"
    assert decoder.config._attn_implementation == "sdpa"
    with pytest.raises(RuntimeError), grouped(decoder):
        raise RuntimeError
    assert decoder.config._attn_implementation == "sdpa"


def test_an_eager_model_has_its_attention_back() -> None:
    model = llama()
    model.set_attn_implementation("eager")
    with grouped(model.get_decoder()):
        assert model.config._attn_implementation == "grouped_sdpa"
    assert model.config._attn_implementation == "eager"


@pytest.mark.parametrize("window", [None, 2, 100])
def test_a_query_sees_itself_and_the_window_before_it(window: int | None) -> None:
    mask = Visible(torch.tensor([[0], [3]]), 5, torch.float32).within(window)
    seen = [torch.isfinite(row).nonzero()[:, 0].tolist() for row in mask[:, 0, 0]]
    assert seen == [[0], [2, 3] if window == 2 else [0, 1, 2, 3]]
