"""Objectives and ratios beyond the clipped token ratio, at the level of the kernel."""

import numpy as np
import pytest
import torch
from torch import Tensor

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.loss import Loss, policy_loss


def tensor(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def loss_of(pi: Tensor, mu: Tensor, advantages: Tensor, **settings: object) -> Loss:
    sequences = settings.pop("sequences", None)
    anchor = settings.pop("anchor_logprobs", None)
    return policy_loss(
        pi,
        torch.zeros_like(pi),
        mu,
        advantages,
        torch.ones_like(pi),
        None,
        AlgorithmSettings(**settings),
        sequences=sequences,
        anchor_logprobs=anchor,
    )


def slope(loss: Loss, leaf: Tensor) -> list[float]:
    return torch.autograd.grad(loss.total, leaf)[0].tolist()


class TestCispo:
    def test_the_cap_is_absolute_and_every_token_keeps_a_gradient(self) -> None:
        """rho 10 weighs 5, rho 0.01 weighs 0.01; no sign of A is held."""
        ratios = tensor([10.0, 10.0, 0.01, 1.0])
        pi = ratios.log().requires_grad_()
        a = tensor([1.0, -1.0, 1.0, -1.0])
        loss = loss_of(pi, torch.zeros(4, dtype=torch.float64), a, name="cispo")
        assert slope(loss, pi) == pytest.approx([-5.0, 5.0, -0.01, 1.0])
        assert (int(loss.sums["clipped_low"]), int(loss.sums["clipped_high"])) == (0, 2)

    def test_the_weight_carries_no_gradient(self) -> None:
        """Unlike rho A, whose gradient is rho A as well but whose value is not that of the loss."""
        pi = tensor([-1.0]).requires_grad_()
        loss = loss_of(pi, tensor([-1.5]), tensor([2.0]), name="cispo")
        assert loss.sums["policy"].item() == pytest.approx(-np.exp(0.5) * 2 * -1.0)
        assert slope(loss, pi) == pytest.approx([-np.exp(0.5) * 2])


class TestGspo:
    def test_the_ratio_is_the_geometric_mean_and_one_for_all_tokens(self) -> None:
        pi = tensor([0.3, -0.1, 0.1, 0.2]).requires_grad_()
        mu = torch.zeros(4, dtype=torch.float64)
        sequences = torch.tensor([0, 0, 0, 1])
        loss = loss_of(
            pi,
            mu,
            tensor([1.0, 1.0, 1.0, -1.0]),
            ratio="sequence",
            clip_low=None,
            clip_high=None,
            sequences=sequences,
        )
        s = np.exp(0.1), np.exp(0.2)
        assert slope(loss, pi) == pytest.approx([-s[0]] * 3 + [s[1]])
        assert loss.maxima["ratio"].item() == pytest.approx(s[1])

    def test_a_sequence_is_clipped_as_a_whole(self) -> None:
        pi = tensor([0.5, -0.49, 0.5, -0.5]).requires_grad_()
        loss = loss_of(
            pi,
            torch.zeros(4, dtype=torch.float64),
            torch.ones(4, dtype=torch.float64),
            name="gspo",
            sequences=torch.tensor([0, 0, 1, 1]),
        )
        assert slope(loss, pi) == pytest.approx([0.0, 0.0, -1.0, -1.0])
        assert int(loss.sums["clipped_high"]) == 2


class TestAnchor:
    def test_the_ratio_leaves_the_sampler_out(self) -> None:
        pi = tensor([-1.0]).requires_grad_()
        loss = loss_of(
            pi, tensor([-3.0]), tensor([1.0]), anchor="batch_start", anchor_logprobs=tensor([-1.1])
        )
        assert slope(loss, pi) == pytest.approx([-np.exp(0.1)])

    def test_the_mismatch_is_still_to_the_sampler(self) -> None:
        loss = loss_of(
            tensor([-1.0]),
            tensor([-1.2]),
            tensor([1.0]),
            anchor="batch_start",
            anchor_logprobs=tensor([-1.0]),
        )
        assert loss.sums["mismatch"].item() == pytest.approx(np.exp(-0.2) + 0.2 - 1)
        assert loss.sums["behaviour"].item() == pytest.approx(np.exp(0.2))


def test_the_squared_log_ratio_pulls_back_to_the_anchor() -> None:
    pi = tensor([-1.0]).requires_grad_()
    loss = loss_of(pi, tensor([-1.5]), tensor([0.0]), log_ratio_coef=0.1)
    assert loss.total.item() == pytest.approx(0.1 * 0.25)
    assert slope(loss, pi) == pytest.approx([0.1 * 2 * 0.5])


def test_likelihood_ignores_the_sampler() -> None:
    pi = tensor([-1.0, -2.0]).requires_grad_()
    loss = loss_of(pi, tensor([0.0, -50.0]), tensor([1.0, 1.0]), name="sft")
    assert loss.sums["policy"].item() == pytest.approx(3.0)
    assert (loss.sums.keys(), loss.maxima) == ({"policy", "entropy"}, {})
    assert slope(loss, pi) == [-1.0, -1.0]
