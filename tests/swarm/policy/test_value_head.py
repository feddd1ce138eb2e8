"""The value head: zero at first, a function of its seed, and no gradient into the policy."""

import torch
from torch.nn import functional

from swarm.policy.value_head import ValueHead

CPU = torch.device("cpu")


def head(seed: int = 0, width: int = 8) -> ValueHead:
    return ValueHead(width, seed, CPU)


def test_it_starts_at_zero_everywhere() -> None:
    assert torch.equal(head()(torch.randn(5, 8)), torch.zeros(5))


def test_its_seed_decides_where_it_starts() -> None:
    assert torch.equal(head(3).inner, head(3).inner)
    assert not torch.equal(head(3).inner, head(4).inner)
    assert head().inner.abs().max() <= 1 / 8**0.5


def test_it_is_two_layers() -> None:
    found, states = head(), torch.randn(5, 8)
    with torch.no_grad():
        found.outer.normal_()
        found.outer_bias.fill_(0.5)
        expected = torch.tanh(functional.linear(states, found.inner, found.inner_bias))
        assert torch.allclose(found(states), expected @ found.outer[0] + 0.5)


def test_it_learns_and_the_states_get_no_gradient() -> None:
    found, states = head(), torch.randn(5, 8, requires_grad=True)
    with torch.no_grad():
        found.outer.normal_()
    found(states).sum().backward()
    assert states.grad is None
    assert all(p.grad is not None and p.grad.any() for p in found.parameters())


def test_half_precision_states_are_read_in_fp32() -> None:
    assert head()(torch.randn(5, 8, dtype=torch.bfloat16)).dtype == torch.float32
