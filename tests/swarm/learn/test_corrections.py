"""Corrections by hand, token by token, and the ways in which they could go wrong."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from swarm.config.algorithm import BOUNDS, AlgorithmSettings, CorrectionSettings
from swarm.learn.corrections import correction
from swarm.learn.loss import Loss, policy_loss
from swarm.learn.ratios import MAX_LOG_RATIO

RATIOS = [0.01, 0.5, 0.99, 1.0, 1.005, 2.0, 4.9, 6.0, 1e4]
KINDS = tuple(BOUNDS)


def tensor(values: Sequence[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def factors(kind: str, ratios: Sequence[float] = RATIOS, **bounds: float) -> list[float]:
    """What each token's policy term is multiplied by, for pi_old / mu of these ratios."""
    found = correction(
        CorrectionSettings(kind=kind, **bounds),
        logprobs=torch.zeros(len(ratios), dtype=torch.float64),
        sampler_logprobs=torch.zeros(len(ratios), dtype=torch.float64),
        advantages=torch.ones(len(ratios), dtype=torch.float64),
        anchor_logprobs=tensor(ratios).log(),
        sequences=torch.arange(len(ratios)),
    )
    assert found is not None
    return found.apply(torch.ones(len(ratios), dtype=torch.float64)).tolist()


class TestByHand:
    def test_none(self) -> None:
        zero = torch.zeros(1)
        assert correction(CorrectionSettings(), zero, zero, zero) is None

    def test_tis_truncates_above(self) -> None:
        assert factors("tis") == pytest.approx([min(r, 2.0) for r in RATIOS])
        assert factors("tis", low=0.5, high=3.0) == pytest.approx(
            [min(max(r, 0.5), 3.0) for r in RATIOS]
        )

    def test_icepop_drops_on_both_sides(self) -> None:
        assert factors("icepop") == pytest.approx([r if 0.5 <= r <= 5 else 0 for r in RATIOS])

    def test_a_token_mask_does_not_reweight(self) -> None:
        assert factors("token_mask") == [float(0.5 <= r <= 2) for r in RATIOS]

    def test_decoupled_reweights_up_to_its_cap(self) -> None:
        assert factors("decoupled") == pytest.approx([r if r <= 5 else 0 for r in RATIOS])

    def test_a_sequence_mask_takes_the_geometric_mean(self) -> None:
        """Two far tokens that cancel keep their sequence; one token a little off drops its own."""
        ratios = tensor([4.0, 0.25, 1.0, 1.02, 1.02])
        found = correction(
            CorrectionSettings(kind="sequence_mask"),
            torch.zeros(5),
            torch.zeros(5),
            torch.ones(5),
            ratios.log(),
            torch.tensor([0, 0, 0, 1, 1]),
        )
        assert found is not None
        assert found.keep.tolist() == [True, True, True, False, False]
        assert found.weight.tolist() == [1.0] * 5

    @pytest.mark.parametrize(
        ("advantage", "pi", "kept"),
        [
            (1.0, 0.69, True),
            (1.0, 0.71, False),  # good, and risen by more than 0.2
            (1.0, 0.01, True),  # good, and fallen: it may come back
            (-1.0, 0.31, True),
            (-1.0, 0.29, False),  # bad, and fallen by more than 0.2
            (-1.0, 0.99, True),
        ],
    )
    def test_dppo_masks_probabilities_that_moved_the_way_they_are_pushed(
        self, advantage: float, pi: float, kept: bool
    ) -> None:
        found = correction(
            CorrectionSettings(kind="dppo"),
            tensor([math.log(pi)]),
            tensor([math.log(0.5)]),
            tensor([advantage]),
        )
        assert found is not None
        assert found.keep.tolist() == [kept]

    def test_dppo_lets_rare_tokens_move_by_large_ratios(self) -> None:
        found = correction(
            CorrectionSettings(kind="dppo"), tensor([-3.0]), tensor([-9.0]), tensor([1.0])
        )
        assert found is not None
        assert found.keep.tolist() == [True]


def loss_of(
    kind: str, advantages: Tensor, *, pi: Tensor, old: Tensor, mu: Tensor, weights: Tensor
) -> Loss:
    reweighs = kind in ("tis", "icepop", "decoupled")
    settings = AlgorithmSettings(
        correction={"kind": kind}, anchor="batch_start" if reweighs else "sampler"
    )
    return policy_loss(
        pi,
        torch.zeros_like(pi),
        mu,
        advantages,
        weights,
        None,
        settings,
        anchor_logprobs=old if reweighs else None,
        sequences=torch.arange(len(pi)) // 2,
    )


@pytest.mark.parametrize("kind", KINDS)
class TestInTheLoss:
    def test_where_all_agree_nothing_changes(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        mu, advantages, weights = (tensor(rng.normal(0, 1, 8)) for _ in range(3))
        gradients = []
        for chosen in ("none", kind):
            pi = mu.clone().requires_grad_()
            loss = loss_of(chosen, advantages, pi=pi, old=mu, mu=mu, weights=weights)
            assert int(loss.sums["masked"]) == 0
            gradients.append(torch.autograd.grad(loss.total, pi)[0])
        torch.testing.assert_close(*gradients)

    def test_masking_some_does_not_inflate_the_others(self, kind: str) -> None:
        """The denominator is in the weights, which a mask leaves alone."""
        pi = tensor([-1.0, -1.0, -0.01, -0.01]).requires_grad_()
        old = pi.detach()
        mu = tensor([-1.0, -1.0, -9.0, -9.0])
        ones, weights = torch.ones_like(mu), torch.full_like(mu, 0.25)
        loss = loss_of(kind, ones, pi=pi, old=old, mu=mu, weights=weights)
        slope = torch.autograd.grad(loss.total, pi)[0]
        assert slope[:2].tolist() == [-0.25, -0.25]
        if kind != "tis":
            assert slope[2:].tolist() == [0.0, 0.0]
            assert int(loss.sums["masked"]) == 2

    @given(
        gaps=st.lists(st.floats(-200, 200, width=32), min_size=2, max_size=8),
        advantage=st.floats(-10, 10, width=32),
    )
    def test_far_apart_it_is_finite_in_fp32(
        self, kind: str, gaps: list[float], advantage: float
    ) -> None:
        pi = torch.zeros(len(gaps), requires_grad=True)
        mu = torch.tensor(gaps)
        loss = loss_of(
            kind,
            torch.full_like(mu, advantage),
            pi=pi,
            old=torch.zeros_like(mu),
            mu=mu,
            weights=torch.ones_like(mu),
        )
        for value in (
            loss.total,
            loss.sums["behaviour"],
            loss.sums["behaviour_squares"],
            loss.maxima["ratio"],
        ):
            assert torch.isfinite(value)
        assert torch.isfinite(torch.autograd.grad(loss.total, pi)[0]).all()
        most = len(gaps) * math.exp(MAX_LOG_RATIO)
        assert float(loss.sums["behaviour"]) <= most * (1 + 1e-5)

    def test_a_dropped_token_is_selected_away_and_not_multiplied_by_zero(self, kind: str) -> None:
        found = correction(
            CorrectionSettings(kind=kind),
            tensor([-0.01]),
            tensor([-9.0]),
            tensor([1.0]),
            tensor([-0.01]) if kind != "dppo" else None,
            torch.zeros(1, dtype=torch.long),
        )
        assert found is not None
        surrogate = tensor([math.inf]).requires_grad_()
        term = found.apply(surrogate)
        if kind == "tis":
            assert found.weight.item() == 2.0
            return
        assert term.item() == 0.0
        assert torch.autograd.grad(term.sum(), surrogate)[0].item() == 0.0

    def test_it_carries_no_gradient(self, kind: str) -> None:
        pi = tensor([-1.0, -2.0]).requires_grad_()
        found = correction(
            CorrectionSettings(kind=kind),
            pi,
            tensor([-1.1, -2.1]),
            tensor([1.0, -1.0]),
            None,
            torch.zeros(2, dtype=torch.long),
        )
        assert found is not None
        assert not found.weight.requires_grad


def test_decoupled_is_the_importance_weight_times_ppo_at_the_anchor() -> None:
    """AReaL: -sg(pi_old / mu) min(r A, clip(r, 0.8, 1.2) A), r = pi / pi_old."""
    rng = np.random.default_rng(2)
    mu = -np.abs(rng.normal(2, 1, 50))
    old, now = mu + rng.normal(0, 0.3, 50), mu + rng.normal(0, 0.3, 50)
    a, w = rng.normal(0, 1, 50), rng.uniform(0, 1, 50)
    pi = tensor(now).requires_grad_()
    loss = loss_of("decoupled", tensor(a), pi=pi, old=tensor(old), mu=tensor(mu), weights=tensor(w))
    r, behaviour = np.exp(now - old), np.exp(old - mu)
    held = ((r > 1.2) & (a > 0)) | ((r < 0.8) & (a < 0))
    expected = -w * behaviour * np.where(held, np.clip(r, 0.8, 1.2), r) * a
    assert loss.sums["policy"].item() == pytest.approx(expected.sum())
    slope = torch.autograd.grad(loss.total, pi)[0].numpy()
    np.testing.assert_allclose(slope, np.where(held, 0.0, -w * behaviour * r * a), rtol=1e-9)


def test_the_effective_sample_size_is_that_of_the_behaviour_ratios() -> None:
    ratios = tensor([1.0, 1.0, 2.0, 4.0])
    zeros, ones = torch.zeros_like(ratios), torch.ones_like(ratios)
    for anchor in (None, ratios.log()):
        pi = ratios.log() if anchor is None else zeros
        settings = AlgorithmSettings(anchor="sampler" if anchor is None else "batch_start")
        loss = policy_loss(pi, zeros, zeros, ones, ones, None, settings, anchor_logprobs=anchor)
        ess = loss.sums["behaviour"] ** 2 / (4 * loss.sums["behaviour_squares"])
        assert float(ess) == pytest.approx(8**2 / (4 * 22))


@pytest.mark.parametrize(
    ("settings", "outside"),
    [
        ({"clip_low": 0.2, "clip_high": 0.3}, [1, 1, 0, 0, 0, 1, 1, 1, 1]),
        ({"name": "cispo"}, [0, 0, 0, 0, 0, 0, 0, 1, 1]),
        ({"name": "rloo"}, [0] * 9),
        (
            {"name": "rloo", "correction": {"kind": "token_mask", "low": 0.4}},
            [1, 0, 0, 0, 0, 0, 1, 1, 1],
        ),
        (
            {"correction": {"kind": "token_mask", "low": 0.1, "high": 1}},
            [1, 1, 0, 0, 1, 1, 1, 1, 1],
        ),
        (
            {"name": "rloo", "anchor": "batch_start", "correction": {"kind": "tis"}},
            [0, 0, 0, 0, 0, 0, 1, 1, 1],
        ),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_tokens_outside_a_bound_are_counted_whatever_their_advantage(
    settings: dict, outside: list[int], sign: float
) -> None:
    """Before any update: pi is pi_old, and its ratios to the sampler are rounding alone."""
    algorithm = AlgorithmSettings(**settings)
    log_pi = torch.full((len(RATIOS),), -10.0, dtype=torch.float64)
    zeros = torch.zeros_like(log_pi)
    found = policy_loss(
        log_pi,
        zeros,
        log_pi - tensor(RATIOS).log(),
        sign * torch.ones_like(log_pi),
        torch.ones_like(log_pi),
        None,
        algorithm,
        anchor_logprobs=log_pi if algorithm.anchor == "batch_start" else None,
    )
    assert int(found.sums["outside"]) == sum(outside)
