"""The loss kernel against formulas worked out by hand, in fp64 so that only the maths counts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.loss import Loss, policy_loss
from swarm.learn.ratios import MAX_LOG_RATIO

CLIPPED = AlgorithmSettings(clip_low=0.2, clip_high=0.3)
UNCLIPPED = AlgorithmSettings(clip_low=None, clip_high=None)


def tensor(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def loss_of(
    logprobs: Tensor,
    sampler: Tensor,
    advantages: Tensor,
    weights: Tensor,
    settings: AlgorithmSettings,
    *,
    entropy: Tensor | None = None,
    reference: Tensor | None = None,
) -> Loss:
    entropy = torch.zeros_like(logprobs) if entropy is None else entropy
    return policy_loss(logprobs, entropy, sampler, advantages, weights, reference, settings)


def gradient(loss: Loss, leaf: Tensor) -> Tensor:
    (found,) = torch.autograd.grad(loss.total, leaf)
    return found


class Batch:
    """M random tokens whose ratios spread around 1."""

    def __init__(self, seed: int, m: int = 200, spread: float = 0.4) -> None:
        rng = np.random.default_rng(seed)
        self.sampler = tensor(-np.abs(rng.normal(2, 1, m)))
        self.logprobs = (self.sampler + tensor(rng.normal(0, spread, m))).requires_grad_()
        self.advantages = tensor(rng.normal(0, 1, m))
        self.weights = tensor(rng.uniform(0, 1, m))
        self.reference = self.sampler + tensor(rng.normal(0, spread, m))
        self.entropy = tensor(rng.uniform(0, 3, m)).requires_grad_()

    def loss(self, settings: AlgorithmSettings, part: slice = slice(None)) -> Loss:
        return loss_of(
            self.logprobs[part],
            self.sampler[part],
            self.advantages[part],
            self.weights[part],
            settings,
            entropy=self.entropy[part],
            reference=self.reference[part] if settings.kl_coef else None,
        )


class TestPolicyTerm:
    """-min(rho A, clip(rho) A), and its gradient -w rho A where the clip does not hold."""

    @given(seed=st.integers(0, 2**32 - 1))
    def test_value_and_gradient_with_clipping(self, seed: int) -> None:
        batch = Batch(seed)
        loss = batch.loss(CLIPPED)
        ratio = np.exp((batch.logprobs.detach() - batch.sampler).numpy())
        a, w = batch.advantages.numpy(), batch.weights.numpy()
        held_low, held_high = (a < 0) & (ratio < 0.8), (a > 0) & (ratio > 1.3)
        value = np.where(held_low, 0.8 * a, np.where(held_high, 1.3 * a, ratio * a))
        slope = np.where(held_low | held_high, 0.0, -w * ratio * a)
        np.testing.assert_allclose(loss.total.item(), -(w * value).sum(), rtol=1e-10)
        np.testing.assert_allclose(gradient(loss, batch.logprobs), slope, rtol=1e-10, atol=1e-14)
        assert (int(loss.sums["clipped_low"]), int(loss.sums["clipped_high"])) == (
            held_low.sum(),
            held_high.sum(),
        )
        assert loss.maxima["ratio"].item() == pytest.approx(ratio.max())

    @given(seed=st.integers(0, 2**32 - 1))
    def test_without_bounds_it_is_the_importance_weighted_gradient(self, seed: int) -> None:
        batch = Batch(seed)
        loss = batch.loss(UNCLIPPED)
        ratio = (batch.logprobs.detach() - batch.sampler).exp()
        expected = -batch.weights * ratio * batch.advantages
        torch.testing.assert_close(gradient(loss, batch.logprobs), expected)
        assert int(loss.sums["clipped_low"]) == int(loss.sums["clipped_high"]) == 0

    @pytest.mark.parametrize(
        ("advantage", "ratio", "slope"),
        [
            (1.0, 2.0, 0.0),  # already raised: held
            (1.0, 0.5, -0.5),  # fell although good: pushed back up
            (-1.0, 0.5, 0.0),  # already lowered: held
            (-1.0, 2.0, 2.0),  # rose although bad: pushed down, by the full ratio
        ],
    )
    def test_the_clip_is_one_sided(self, advantage: float, ratio: float, slope: float) -> None:
        logprobs = tensor([np.log(ratio)]).requires_grad_()
        one, zero = tensor([1.0]), tensor([0.0])
        loss = loss_of(logprobs, zero, tensor([advantage]), one, CLIPPED)
        assert gradient(loss, logprobs).item() == pytest.approx(slope)

    @given(seed=st.integers(0, 2**32 - 1))
    def test_the_first_update_is_never_clipped(self, seed: int) -> None:
        """Where policy and sampler agree, the gradient is plain REINFORCE, whatever the range."""
        batch = Batch(seed, spread=0.0)
        narrow = AlgorithmSettings(clip_low=1e-6, clip_high=1e-6)
        for settings_ in (narrow, CLIPPED, UNCLIPPED):
            loss = batch.loss(settings_)
            expected = -batch.weights * batch.advantages
            torch.testing.assert_close(gradient(loss, batch.logprobs), expected)
            assert int(loss.sums["clipped_low"] + loss.sums["clipped_high"]) == 0
            assert loss.sums["mismatch"].item() == 0


class TestKL:
    """The gradient's exact expectation over a categorical, by summing over its tokens.

    A token's weight is its sampling probability, so the kernel's sum is the expectation.
    """

    def setup_method(self) -> None:
        rng = np.random.default_rng(3)
        self.theta = tensor(rng.normal(0, 1, 6)).requires_grad_()
        self.reference = tensor(rng.normal(0, 1, 6)).log_softmax(-1)
        self.elsewhere = tensor(rng.normal(0, 1, 6)).log_softmax(-1)

    def expected_gradient(self, kl: str, sampler: Tensor) -> Tensor:
        settings_ = AlgorithmSettings(clip_low=None, clip_high=None, kl_coef=1.0, kl=kl)
        logprobs, zeros = self.theta.log_softmax(-1), torch.zeros(6, dtype=torch.float64)
        loss = loss_of(logprobs, sampler, zeros, sampler.exp(), settings_, reference=self.reference)
        return gradient(loss, self.theta)

    def divergence_gradient(self, first: Tensor, second: Tensor) -> Tensor:
        divergence = (first.exp() * (first - second)).sum()
        (found,) = torch.autograd.grad(divergence, self.theta)
        return found

    def test_reverse_follows_kl_of_policy_from_reference(self) -> None:
        policy = self.theta.log_softmax(-1)
        expected = self.divergence_gradient(policy, self.reference)
        found = self.expected_gradient("reverse", policy.detach())
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)

    def test_reverse_holds_for_samples_of_another_policy(self) -> None:
        expected = self.divergence_gradient(self.theta.log_softmax(-1), self.reference)
        found = self.expected_gradient("reverse", self.elsewhere)
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)

    def test_forward_follows_kl_of_reference_from_policy(self) -> None:
        policy = self.theta.log_softmax(-1)
        expected = self.divergence_gradient(self.reference, policy)
        found = self.expected_gradient("forward", policy.detach())
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)

    def test_the_two_directions_differ(self) -> None:
        policy = self.theta.log_softmax(-1).detach()
        reverse, forward = (self.expected_gradient(k, policy) for k in ("reverse", "forward"))
        assert (reverse - forward).norm() > 0.05 * reverse.norm()

    @pytest.mark.parametrize("kl", ["reverse", "forward"])
    def test_its_value_is_zero_where_policy_and_reference_agree(self, kl: str) -> None:
        batch = Batch(0, spread=0.0)
        loss = batch.loss(AlgorithmSettings(kl_coef=1.0, kl=kl))
        assert loss.sums["kl"].item() == 0

    @given(seed=st.integers(0, 2**32 - 1))
    def test_slopes(self, seed: int) -> None:
        """d/dlogpi of rho k3 is rho (k3 + 1 - ref/pi); of k3, 1 - ref/pi."""
        batch = Batch(seed)
        ratio = (batch.logprobs.detach() - batch.sampler).exp()
        toward = batch.reference - batch.logprobs.detach()
        k3 = toward.exp() - toward - 1
        for kl, slope in (
            ("reverse", ratio * (k3 + 1 - toward.exp())),
            ("forward", 1 - toward.exp()),
        ):
            with_kl = batch.loss(AlgorithmSettings(kl_coef=0.3, kl=kl, clip_low=0.2, clip_high=0.2))
            without = batch.loss(AlgorithmSettings(kl_coef=0.0, clip_low=0.2, clip_high=0.2))
            found = gradient(with_kl, batch.logprobs) - gradient(without, batch.logprobs)
            torch.testing.assert_close(found, 0.3 * batch.weights * slope)

    def test_a_kl_in_the_reward_is_not_in_the_loss(self) -> None:
        batch = Batch(1)
        placed = {"kl_coef": 0.3, "baseline": "leave_one_out"}
        loss = batch.loss(AlgorithmSettings(kl_placement="reward", **placed))
        assert torch.equal(loss.total.detach(), loss.sums["policy"])


class TestEntropy:
    def test_a_bonus_lowers_the_loss_by_its_weighted_sum(self) -> None:
        batch = Batch(2)
        with_bonus, without = batch.loss(AlgorithmSettings(entropy_coef=0.1)), batch.loss(CLIPPED)
        (slope,) = torch.autograd.grad(with_bonus.total, batch.entropy, retain_graph=True)
        torch.testing.assert_close(slope, -0.1 * batch.weights)
        assert torch.equal(
            with_bonus.sums["policy"], batch.loss(AlgorithmSettings()).sums["policy"]
        )
        assert without.total.item() == without.sums["policy"].item()

    def test_following_it_spreads_a_categorical(self) -> None:
        theta = tensor([2.0, 0.0, -1.0]).requires_grad_()
        law = theta.log_softmax(-1)
        entropy = -(law.exp() * law).sum().expand(1)
        one, zero = tensor([1.0]), tensor([0.0])
        loss = loss_of(
            law[:1],
            law[:1].detach(),
            zero,
            one,
            AlgorithmSettings(entropy_coef=1.0),
            entropy=entropy,
        )
        stepped = (theta - 0.1 * gradient(loss, theta)).log_softmax(-1)
        assert -(stepped.exp() * stepped).sum() > entropy.item()


class TestRobustness:
    @settings(max_examples=50)
    @given(
        gaps=st.lists(st.floats(-200, 200, width=32), min_size=1, max_size=8),
        kl=st.sampled_from(["reverse", "forward"]),
        advantage=st.floats(-10, 10, width=32),
    )
    def test_far_apart_policies_give_finite_losses_and_gradients_in_fp32(
        self, gaps: list[float], kl: str, advantage: float
    ) -> None:
        logprobs = torch.zeros(len(gaps), requires_grad=True)
        far = torch.tensor(gaps)
        advantages, ones = torch.full_like(far, advantage), torch.ones_like(far)
        for bounds in ({}, {"clip_low": None, "clip_high": None}):
            settings_ = AlgorithmSettings(kl_coef=0.1, kl=kl, **bounds)
            loss = loss_of(logprobs, far, advantages, ones, settings_, reference=-far)
            assert torch.isfinite(gradient(loss, logprobs)).all()
            for value in (loss.total, loss.sums["kl"], loss.sums["mismatch"], loss.maxima["ratio"]):
                assert torch.isfinite(value)
            assert loss.maxima["ratio"] <= np.exp(MAX_LOG_RATIO) * (1 + 1e-6)

    @given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 199))
    def test_it_is_a_sum_over_tokens(self, seed: int, cut: int) -> None:
        batch = Batch(seed)
        settings_ = AlgorithmSettings(kl_coef=0.2, entropy_coef=0.05)
        whole = batch.loss(settings_)
        parts = [batch.loss(settings_, part) for part in (slice(cut), slice(cut, None))]
        torch.testing.assert_close(sum(part.total for part in parts), whole.total)
        for name, value in whole.sums.items():
            torch.testing.assert_close(sum(part.sums[name] for part in parts), value)
        for name, value in whole.maxima.items():
            assert max(part.maxima[name] for part in parts) == value
