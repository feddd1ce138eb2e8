import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from statsmodels.stats.power import TTestIndPower, TTestPower

from autoresearch.design.power import detectable_effect, power, seeds_needed


@pytest.mark.parametrize(
    ("d", "n", "expected"),
    [  # simulated, to two digits
        (1.0, 3, 0.12),
        (1.0, 5, 0.26),
        (1.0, 10, 0.55),
        (1.0, 20, 0.87),
        (1.5, 5, 0.52),
        (1.5, 10, 0.88),
        (2.0, 5, 0.76),
        (2.0, 10, 0.99),
    ],
)
def test_known_power_of_welchs_test(d, n, expected):
    assert power(d, 1.0, n, alpha=0.05) == pytest.approx(expected, abs=0.011)


@pytest.mark.parametrize(("n", "d", "alpha"), [(2, 2.0, 0.05), (3, 2.0, 0.022), (6, 1.0, 0.05)])
def test_welch_power_agrees_with_simulated_studies(n, d, alpha):
    a, b = np.random.default_rng(0).standard_normal((2, 40_000, n))
    result = ttest_ind(a + d, b, axis=1, equal_var=False)
    simulated = ((result.pvalue < alpha) & (result.statistic > 0)).mean()
    assert power(d, 1.0, n, alpha=alpha) == pytest.approx(simulated, abs=0.0075)


def test_welch_power_joins_the_pooled_formula_as_seeds_grow():
    pooled = TTestIndPower().power(0.4, 100, 0.05)
    assert power(0.4, 1.0, 100, alpha=0.05) == pytest.approx(pooled, abs=1e-3)


def test_paired_power_agrees_with_statsmodels():
    known = TTestPower().power(1.2, 8, 0.05)
    assert power(1.2, 1.0, 8, alpha=0.05, test="paired") == pytest.approx(known, abs=1e-6)


def test_no_effect_is_detected_on_either_side_with_chance_half_alpha():
    assert power(0.0, 1.0, 30, alpha=0.05) == pytest.approx(0.025, abs=5e-4)
    assert power(0.0, 1.0, 3, alpha=0.05) < 0.025


@given(
    st.floats(0, 1e4),
    st.floats(1, 2),
    st.integers(2, 300),
    st.sampled_from([0.001, 0.022, 0.05, 0.2]),
    st.sampled_from(["welch", "paired"]),
)
def test_power_grows_with_the_effect_from_chance_to_certainty(effect, more, n, alpha, test):
    less = power(effect, 1.0, n, alpha=alpha, test=test)
    assert 0 <= less <= power(effect * more, 1.0, n, alpha=alpha, test=test) + 1e-9
    assert power(1e7, 1.0, n, alpha=alpha, test=test) == pytest.approx(1.0)


@given(
    st.floats(0.001, 100),
    st.integers(2, 200),
    st.sampled_from([0.01, 0.05]),
    st.sampled_from(["welch", "paired"]),
)
def test_the_detectable_effect_has_the_power_asked_for(sd, n, alpha, test):
    effect = detectable_effect(sd, n, alpha=alpha, power=0.8, test=test)
    assert power(effect, sd, n, alpha=alpha, test=test) == pytest.approx(0.8, abs=1e-6)
    assert power(-effect, sd, n, alpha=alpha, test=test) == pytest.approx(0.8, abs=1e-6)


def test_the_seeds_needed_are_the_fewest():
    n = seeds_needed(1.0, 1.0, alpha=0.05, power=0.8, most=50)
    assert n == 17
    assert power(1.0, 1.0, n, alpha=0.05) >= 0.8 > power(1.0, 1.0, n - 1, alpha=0.05)
    assert seeds_needed(1.0, 1.0, alpha=0.05, power=0.8, most=16) is None
    assert seeds_needed(0.0, 1.0, alpha=0.05, power=0.8, most=50) is None


def test_one_seed_detects_nothing():
    assert power(5.0, 1.0, 1, alpha=0.05) == 0.0
    assert math.isinf(detectable_effect(1.0, 1, alpha=0.05, power=0.8))


@pytest.mark.parametrize("sd", [0.0, -1.0, math.nan])
def test_an_unknown_spread_has_no_power(sd):
    with pytest.raises(ValueError, match="sd"):
        power(1.0, sd, 5, alpha=0.05)
    with pytest.raises(ValueError, match="sd"):
        detectable_effect(sd, 5, alpha=0.05, power=0.8)
    with pytest.raises(ValueError, match="sd"):
        seeds_needed(1.0, sd, alpha=0.05, power=0.8, most=9)


def test_power_below_chance_cannot_be_asked_for():
    with pytest.raises(ValueError, match="power"):
        detectable_effect(1.0, 5, alpha=0.05, power=0.025)
