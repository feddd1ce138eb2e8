"""Advantages by hand, and the cases in which other trainers divided by nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.advantages import (
    STD_EPSILON,
    episode_advantages,
    penalised,
    token_returns_advantages,
    token_weights,
)

BASELINES = ("none", "group", "leave_one_out", "batch")
SCALES = ("none", "group_std", "batch_std")

rewards = st.floats(0, 1, width=32)
group_rewards = st.lists(st.one_of(st.none(), rewards), min_size=1, max_size=6)
batch_rewards = st.lists(group_rewards, min_size=1, max_size=4)
#: A std is divided by where its mean, or one of the others of the group, is the baseline.
DIVIDED = {
    "none": BASELINES,
    "group_std": ("group", "leave_one_out"),
    "batch_std": ("group", "leave_one_out", "batch"),
}
any_settings = st.sampled_from(SCALES).flatmap(
    lambda scale: st.builds(
        AlgorithmSettings, baseline=st.sampled_from(DIVIDED[scale]), scale=st.just(scale)
    )
)


def of(*groups: list[float | None], baseline: str = "group", scale: str = "none") -> list[list]:
    return episode_advantages(groups, AlgorithmSettings(baseline=baseline, scale=scale))


class TestBaselines:
    def test_none(self) -> None:
        assert of([1.0, 0.0, 0.5], baseline="none") == [[1.0, 0.0, 0.5]]

    def test_group_mean(self) -> None:
        assert of([1.0, 0.0], [1.0, 1.0, 0.4]) == [[0.5, -0.5], pytest.approx([0.2, 0.2, -0.4])]

    def test_leave_one_out_is_the_mean_of_the_others(self) -> None:
        """Ahmadian et al. 2024: r_i less the mean of the other rewards of its group."""
        group = [1.0, 0.25, 0.5, 0.0]
        expected = [r - np.mean(group[:i] + group[i + 1 :]) for i, r in enumerate(group)]
        assert of(group, baseline="leave_one_out") == [pytest.approx(expected)]

    def test_batch_mean_is_over_episodes_and_not_over_groups(self) -> None:
        found = of([1.0, 1.0, 1.0], [0.0], baseline="batch")
        assert found == [[0.25, 0.25, 0.25], [-0.75]]


class TestScales:
    def test_group_std_is_each_groups_own_with_bessel(self) -> None:
        found = of([1.0, 0.0], [0.2, 0.4, 0.9], scale="group_std")
        stds = [np.std(g, ddof=1) + STD_EPSILON for g in ([1.0, 0.0], [0.2, 0.4, 0.9])]
        assert found[0] == pytest.approx([0.5 / stds[0], -0.5 / stds[0]])
        assert found[1] == pytest.approx(np.array([-0.3, -0.1, 0.4]) / stds[1])

    def test_batch_std_is_one_for_all_groups(self) -> None:
        found = of([1.0, 0.0], [0.5, 0.0], scale="batch_std")
        std = np.std([1.0, 0.0, 0.5, 0.0], ddof=1) + STD_EPSILON
        assert found[0] == pytest.approx([0.5 / std, -0.5 / std])
        assert found[1] == pytest.approx([0.25 / std, -0.25 / std])

    @pytest.mark.parametrize("baseline", ["group", "batch"])
    def test_whitened_advantages_have_mean_zero_and_std_one(self, baseline: str) -> None:
        group = list(np.random.default_rng(0).uniform(0, 1, 64))
        scale = {"group": "group_std", "batch": "batch_std"}[baseline]
        (found,) = of(group, baseline=baseline, scale=scale)
        assert np.mean(found) == pytest.approx(0, abs=1e-12)
        # STD_EPSILON in the denominator keeps it a little below 1.
        assert np.std(found, ddof=1) == pytest.approx(1, rel=1e-3)


class TestDegenerateGroups:
    """Equality is tested before dividing: a residue of fp is never amplified to a signal."""

    def test_one_deviant_among_seven_equals_keeps_its_size(self) -> None:
        group = [0.35] * 7 + [0.95]
        (found,) = of(group, scale="group_std")
        std = np.std(group, ddof=1) + STD_EPSILON
        assert found == pytest.approx((np.array(group) - np.mean(group)) / std)
        assert max(map(abs, found)) < 3

    @pytest.mark.parametrize(
        ("baseline", "scale"), [(b, s) for s in SCALES for b in DIVIDED[s] if b != "none"]
    )
    @pytest.mark.parametrize("reward", [0.0, 0.1, 0.35, 1.0])
    def test_equal_rewards_are_exactly_no_signal(
        self, baseline: str, scale: str, reward: float
    ) -> None:
        found = of([reward] * 8, [reward] * 8, baseline=baseline, scale=scale)
        assert found == [[0.0] * 8] * 2

    @pytest.mark.parametrize(
        ("baseline", "scale"), [(b, s) for s in SCALES for b in BASELINES if b not in DIVIDED[s]]
    )
    def test_what_is_not_centred_is_not_divided_by_a_spread(
        self, baseline: str, scale: str
    ) -> None:
        """Rewards 1e-5 apart would have advantages of thousands, equal ones their own size."""
        with pytest.raises(ValidationError, match=f"{scale!r} divides what is centred"):
            AlgorithmSettings(baseline=baseline, scale=scale)

    @pytest.mark.parametrize("baseline", ["group", "leave_one_out"])
    def test_residue_of_equal_rewards_is_no_signal(self, baseline: str) -> None:
        """0.1 + 0.2 and 0.3 differ in the last bit; divided by their std they would not."""
        found = of([0.1 + 0.2, 0.3] * 4, baseline=baseline, scale="group_std")
        assert found == [[0.0] * 8]

    @pytest.mark.parametrize("scale", SCALES)
    def test_a_single_scored_episode(self, scale: str) -> None:
        """Its own mean is itself; it has no others, so leave-one-out keeps the reward."""
        assert of([0.7], scale=scale) == [[0.0]]
        assert of([0.7, None], baseline="leave_one_out", scale=scale) == [[0.7, None]]

    def test_nothing_scored(self) -> None:
        assert of([None, None], [1.0, 0.0]) == [[None, None], [0.5, -0.5]]
        assert of([None], baseline="batch", scale="batch_std") == [[None]]


@given(groups=batch_rewards, settings=any_settings)
def test_an_unscored_episode_changes_no_other(
    groups: list[list[float | None]], settings: AlgorithmSettings
) -> None:
    scored = [[r for r in group if r is not None] for group in groups]
    found = episode_advantages(groups, settings)
    alone = episode_advantages(scored, settings)
    assert [[a for a in group if a is not None] for group in found] == alone
    for group, advantages in zip(groups, found, strict=True):
        assert [r is None for r in group] == [a is None for a in advantages]


@given(groups=batch_rewards, settings=any_settings)
def test_advantages_are_finite_and_do_not_depend_on_the_order_of_groups(
    groups: list[list[float | None]], settings: AlgorithmSettings
) -> None:
    found = episode_advantages(groups, settings)
    assert all(np.isfinite(a) for group in found for a in group if a is not None)
    backwards = episode_advantages(groups[::-1], settings)[::-1]
    for there, back in zip(found, backwards, strict=True):
        for a, b in zip(there, back, strict=True):
            # A batch mean is summed in another order.
            assert a == b if a is None else a == pytest.approx(b, abs=1e-9)


@given(
    groups=st.lists(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=6), min_size=1, max_size=4),
    settings=any_settings.filter(lambda settings: settings.scale != "none"),
)
def test_no_spread_is_too_small_to_divide_by(
    groups: list[list[float]], settings: AlgorithmSettings
) -> None:
    """What is divided is part of the spread; leave-one-out is up to twice what is centred."""
    most = np.sqrt(sum(map(len, groups))) * 2
    assert all(abs(a) <= most for group in episode_advantages(groups, settings) for a in group)


@given(groups=batch_rewards, scale=st.sampled_from(SCALES))
def test_a_group_baseline_sums_to_zero_in_each_group(
    groups: list[list[float | None]], scale: str
) -> None:
    for group in of(*groups, scale=scale):
        total = sum(a for a in group if a is not None)
        # Within rounding of values that STD_EPSILON lets grow to 1e4 at most.
        assert total == pytest.approx(0, abs=1e-7)


@given(group=st.lists(rewards, min_size=2, max_size=8))
def test_leave_one_out_is_the_group_baseline_times_g_over_g_less_one(group: list[float]) -> None:
    g = len(group)
    (centred,), (left_out,) = of(group), of(group, baseline="leave_one_out")
    assert left_out == pytest.approx([a * g / (g - 1) for a in centred], abs=1e-9)


class TestTokenReturns:
    SETTINGS = AlgorithmSettings(name="reinforce_pp")

    def test_whitened_over_all_tokens(self) -> None:
        returns = [np.array([1.0, 1.0, 0.5]), None, np.array([0.0])]
        found = token_returns_advantages(returns, self.SETTINGS)
        everything = np.array([1.0, 1.0, 0.5, 0.0])
        expected = (everything - everything.mean()) / (everything.std(ddof=1) + STD_EPSILON)
        assert found[1] is None
        np.testing.assert_allclose(np.concatenate([found[0], found[2]]), expected, rtol=1e-6)

    def test_equal_returns_are_exactly_no_signal(self) -> None:
        third = np.full(3, 1 / 3, np.float32)
        (a, b) = token_returns_advantages([third, third[:1]], self.SETTINGS)
        assert not a.any()
        assert not b.any()

    def test_one_token_and_no_token(self) -> None:
        (one,) = token_returns_advantages([np.array([0.4], np.float32)], self.SETTINGS)
        assert one.tolist() == [0.0]
        assert token_returns_advantages([None, None], self.SETTINGS) == [None, None]

    def test_without_baseline_and_scale_they_pass_through(self) -> None:
        plain = AlgorithmSettings(baseline="none", kl_coef=0.1, kl_placement="reward")
        (found,) = token_returns_advantages([np.array([0.5, 0.25], np.float32)], plain)
        assert found.tolist() == [0.5, 0.25]


def test_penalised_rewards_lose_the_summed_kl() -> None:
    assert penalised([1.0, None, 0.0], [2.0, 9.0, -1.0], 0.1) == [0.8, None, 0.1]


class TestWeights:
    LENGTHS = ([3, 1], [0, 4])

    def test_token_mean_counts_each_trained_token_once(self) -> None:
        assert token_weights(self.LENGTHS, "token_mean", 10) == [[1 / 8, 1 / 8], [0.0, 1 / 8]]

    def test_sequence_mean_gives_each_episode_the_same(self) -> None:
        found = token_weights(self.LENGTHS, "sequence_mean", 10)
        assert found == [[1 / 9, 1 / 3], [0.0, 1 / 12]]

    def test_fixed_length_divides_by_the_budget(self) -> None:
        found = token_weights(self.LENGTHS, "fixed_length", 10)
        assert found == [[1 / 30, 1 / 30], [0.0, 1 / 30]]

    @given(
        lengths=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1),
        aggregation=st.sampled_from(["token_mean", "sequence_mean"]),
    )
    def test_a_mean_weighs_one_in_all(self, lengths: list[list[int]], aggregation: str) -> None:
        weights = token_weights(lengths, aggregation, 10)
        pairs = zip(lengths, weights, strict=True)
        total = sum(n * w for ns, ws in pairs for n, w in zip(ns, ws, strict=True))
        assert total == pytest.approx(1 if any(n for ns in lengths for n in ns) else 0)
