"""GAE against its definition, and the loss of a value head."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from swarm.learn.value import generalised_advantages, value_loss


@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(1, 9),
    gamma=st.floats(0.5, 1),
    lam=st.floats(0, 1),
    after=st.floats(-1, 1),
)
def test_it_is_the_discounted_sum_of_one_step_errors(
    seed: int, length: int, gamma: float, lam: float, after: float
) -> None:
    rng = np.random.default_rng(seed)
    rewards, values = (rng.normal(0, 1, length).astype(np.float32) for _ in range(2))
    following = np.append(values[1:], after)
    errors = rewards + gamma * following - values
    expected = [
        sum((gamma * lam) ** (later - t) * errors[later] for later in range(t, length))
        for t in range(length)
    ]
    found = generalised_advantages(rewards, values, after, gamma, lam)
    np.testing.assert_allclose(found.advantages, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.returns, found.advantages + values, rtol=1e-5, atol=1e-6)


class TestEnds:
    REWARDS = np.array([0.0, 0.0, 1.0], np.float32)
    VALUES = np.array([0.2, 0.4, 0.6], np.float32)

    def test_with_lambda_one_it_is_return_less_value(self) -> None:
        found = generalised_advantages(self.REWARDS, self.VALUES, 0.0, 1.0, 1.0)
        np.testing.assert_allclose(found.advantages, 1 - self.VALUES, rtol=1e-6)
        np.testing.assert_allclose(found.returns, np.ones(3), rtol=1e-6)

    def test_a_terminal_end_is_worth_nothing_and_a_cut_one_its_value(self) -> None:
        terminal, cut = (
            generalised_advantages(self.REWARDS, self.VALUES, after, 1.0, 0.0)
            for after in (0.0, 0.5)
        )
        assert (cut.advantages - terminal.advantages).tolist() == pytest.approx([0, 0, 0.5])

    def test_a_perfect_critic_leaves_no_advantage(self) -> None:
        found = generalised_advantages(self.REWARDS, np.ones(3, np.float32), 0.0, 1.0, 0.95)
        np.testing.assert_allclose(found.advantages, np.zeros(3), atol=1e-7)


class TestLoss:
    @pytest.mark.parametrize(
        ("value", "old", "target", "loss", "slope"),
        [
            (0.5, 0.5, 1.0, 0.125, -0.5),  # inside the range
            (0.9, 0.5, 1.0, 0.5 * 0.3**2, 0.0),  # beyond it towards the target: held
            (0.1, 0.5, 1.0, 0.5 * 0.9**2, -0.9),  # beyond it away from the target: pulled back
            (1.4, 0.5, 1.0, 0.5 * 0.4**2, 0.4),  # overshot: pulled back
        ],
    )
    def test_the_worse_of_two_errors(
        self, value: float, old: float, target: float, loss: float, slope: float
    ) -> None:
        leaf = torch.tensor([value], dtype=torch.float64).requires_grad_()
        found = value_loss(
            leaf, torch.tensor([old]).double(), torch.tensor([target]).double(), 0.2, 1
        )
        assert found.total.item() == found.sums["value"].item() == pytest.approx(loss)
        assert torch.autograd.grad(found.total, leaf)[0].item() == pytest.approx(slope)

    def test_without_a_range_it_is_half_the_squared_error(self) -> None:
        found = value_loss(torch.tensor([3.0]), torch.zeros(1), torch.ones(1), None, 4)
        assert found.total.item() == pytest.approx(0.5 * 4 / 4)

    def test_it_is_a_sum_over_tokens(self) -> None:
        rng = torch.Generator().manual_seed(0)
        values, old, returns = (torch.randn(10, generator=rng) for _ in range(3))
        parts = [
            value_loss(values[cut], old[cut], returns[cut], 0.2, 10).total
            for cut in (slice(4), slice(4, None))
        ]
        torch.testing.assert_close(sum(parts), value_loss(values, old, returns, 0.2, 10).total)
