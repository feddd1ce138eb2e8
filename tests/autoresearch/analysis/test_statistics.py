import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from autoresearch.analysis.statistics import contrast, holm, mean_interval, pooled_sd, tost

pytestmark = pytest.mark.filterwarnings("error")

SCORES = st.lists(st.integers(0, 512).map(lambda k: k / 512), min_size=2, max_size=12)
TESTS = st.sampled_from(["welch", "paired"])
PS = st.lists(st.floats(0, 1), min_size=1, max_size=8)

A = [0.61, 0.72, 0.66, 0.70, 0.64]
B = [0.52, 0.60, 0.49, 0.58, 0.61]


def test_welch_agrees_with_scipy():
    known = ttest_ind(A, B[:4], equal_var=False)
    ours = contrast(A, B[:4], alpha=0.022)
    interval = known.confidence_interval(0.978)
    assert ours.p_two_sided == pytest.approx(known.pvalue)
    assert ours.df == pytest.approx(known.df)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))
    assert ours.n == (5, 4)


def test_paired_agrees_with_scipy():
    known = ttest_rel(A, B)
    ours = contrast(A, B, test="paired", alpha=0.1)
    interval = known.confidence_interval(0.9)
    assert ours.p_two_sided == pytest.approx(known.pvalue)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_p_values_agree_with_scipy(alternative):
    known = ttest_ind(A, B, equal_var=False, alternative=alternative).pvalue
    ours = contrast(A, B)
    tail = {"greater": ours.p_above, "less": ours.p_below}[alternative]
    assert tail(0.0) == pytest.approx(known)


@pytest.mark.parametrize("delta", [0.02, 0.1, 0.3])
def test_tost_agrees_with_statsmodels(delta):
    welch = ttost_ind(np.array(A), np.array(B), -delta, delta, usevar="unequal")[0]
    paired = ttost_paired(np.array(A), np.array(B), -delta, delta)[0]
    assert tost(A, B, delta) == pytest.approx(welch)
    assert tost(A, B, delta, test="paired") == pytest.approx(paired)


def test_the_mean_interval_agrees_with_scipy():
    known = ttest_1samp(A, 0).confidence_interval(0.95)
    assert mean_interval(A, 0.05) == pytest.approx((0.666, known.low, known.high))


def test_the_pooled_sd_is_unknown_without_two_scores_that_differ():
    for arms in ([], [[], [0.5]], [[0.5, 0.5]]):
        assert pooled_sd(arms) is None


def test_the_pooled_sd_weighs_arms_by_degrees_of_freedom():
    arms = [A, B[:3], [0.5]]
    squares = 4 * np.var(A, ddof=1) + 2 * np.var(B[:3], ddof=1)
    assert pooled_sd(arms) == pytest.approx(math.sqrt(squares / 6))


@given(SCORES, SCORES)
def test_swapping_the_arms_mirrors_the_contrast(a, b):
    one, other = contrast(a, b), contrast(b, a)
    assert one.effect == pytest.approx(-other.effect, abs=1e-12)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    assert one.p_above(0.0) == pytest.approx(other.p_below(0.0))
    assert one.p_two_sided == pytest.approx(other.p_two_sided)


@given(SCORES, SCORES, st.floats(0.01, 0.5))
def test_tost_is_symmetric_and_falls_as_the_margin_widens(a, b, delta):
    assert tost(a, b, delta) == pytest.approx(tost(b, a, delta))
    assert tost(a, b, 2 * delta) <= tost(a, b, delta) + 1e-12


@given(SCORES, SCORES, st.floats(0.01, 0.4), TESTS)
def test_an_interval_excludes_zero_exactly_when_p_is_below_alpha(a, b, alpha, test):
    size = min(len(a), len(b))
    ours = contrast(a[:size], b[:size], test=test, alpha=alpha)
    assume(abs(ours.p_two_sided - alpha) > 1e-9)
    assert (ours.low > 0 or ours.high < 0) == (ours.p_two_sided < alpha)


@given(SCORES, SCORES, st.floats(0.01, 0.5), st.floats(0.01, 0.2))
def test_equivalence_is_an_interval_within_the_margin(a, b, delta, alpha):
    ours, p = contrast(a, b, alpha=2 * alpha), tost(a, b, delta)
    assume(abs(p - alpha) > 1e-9)
    assert (-delta < ours.low and ours.high < delta) == (p < alpha)


@given(SCORES, SCORES, st.floats(0.01, 100), st.floats(-5, 5))
def test_the_unit_and_the_origin_of_the_scores_do_not_matter(a, b, scale, shift):
    moved = contrast([scale * x + shift for x in a], [scale * x + shift for x in b])
    assert moved.p_two_sided == pytest.approx(contrast(a, b).p_two_sided, abs=1e-6)


@pytest.mark.parametrize("test", ["welch", "paired"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.5] * 5, [0.5] * 5),
        ([1.0] * 5, [0.0] * 5),
        ([0.1 + 0.2] * 2 + [0.3], [0.3] * 3),
        ([0.4], [0.6]),
        ([0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_without_spread_a_contrast_claims_nothing(a, b, test):
    ours = contrast(a, b, test=test)
    assert ours.effect == pytest.approx(a[0] - b[0])
    assert (ours.low, ours.high) == (-math.inf, math.inf)
    assert (ours.p_two_sided, ours.p_above(0.0), ours.p_below(0.0)) == (1.0, 1.0, 1.0)
    assert tost(a, b, 0.9, test=test) == 1.0


def test_equal_differences_are_no_spread_for_the_paired_test_alone():
    a = [0.1, 0.4, 0.7, 0.9]
    b = [x - 0.1 for x in a]
    assert contrast(a, b, test="paired").p_two_sided == 1.0
    assert contrast(a, b, test="welch").p_two_sided < 1.0


def test_one_arm_without_spread_leaves_the_other_ones_degrees_of_freedom():
    ours = contrast(A, [0.0] * 5)
    assert ours.df == pytest.approx(4)
    assert ours.p_two_sided == pytest.approx(ttest_1samp(A, 0).pvalue)


def test_tiny_spreads_do_not_underflow():
    a = [1e-160 * x for x in A]
    assert contrast(a, [0.0] * 5).df == pytest.approx(4)


def test_a_mean_without_spread_has_no_bounds():
    for values in ([0.7], [0.7, 0.7]):
        assert mean_interval(values, 0.05) == (0.7, -math.inf, math.inf)
    assert pooled_sd([[0.7, 0.7], [0.1]]) is None
    assert pooled_sd([]) is None


@pytest.mark.parametrize(
    ("a", "b", "test", "problem"),
    [
        ([], [1.0, 2.0], "welch", "no scores"),
        ([1.0, math.nan], [1.0, 2.0], "welch", "finite"),
        ([1.0, 2.0], [1.0], "paired", "2 and 1"),
    ],
)
def test_scores_that_make_no_contrast_are_errors(a, b, test, problem):
    with pytest.raises(ValueError, match=problem):
        contrast(a, b, test=test)


def test_holm_multiplies_the_smallest_by_all_and_the_largest_by_one():
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([]) == []


@settings(max_examples=8)
@given(PS)
def test_holm_agrees_with_statsmodels(ps):
    assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]))


@given(PS)
def test_holm_never_lowers_a_p_and_keeps_the_order(ps):
    adjusted = holm(ps)
    assert all(p <= q + 1e-15 and q <= 1 for p, q in zip(ps, adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(ps, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@given(PS, st.floats(0.001, 0.2))
def test_holm_rejects_as_the_step_down_procedure(ps, alpha):
    rejected, order = set(), sorted(range(len(ps)), key=ps.__getitem__)
    for rank, index in enumerate(order):
        if ps[index] * (len(ps) - rank) > alpha:
            break
        rejected.add(index)
    assert {i for i, q in enumerate(holm(ps)) if q <= alpha} == rejected


def test_intervals_cover_at_few_seeds():
    rng, hits, runs = np.random.default_rng(0), 0, 2000
    for _ in range(runs):
        a, b = rng.normal(0.3, 2, 5), rng.normal(0, 1, 5)
        ours = contrast(a, b, alpha=0.05)
        hits += ours.low <= 0.3 <= ours.high
    error = 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.95 - error <= hits / runs
