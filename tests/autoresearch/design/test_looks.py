import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr
from scipy.stats import multivariate_normal, norm

from autoresearch.design.looks import nominal_alpha, overall_alpha

LOOKS = st.lists(st.integers(1, 60), min_size=1, max_size=5, unique=True).map(sorted)
LEVELS = st.floats(1e-6, 0.3)


@pytest.mark.parametrize(
    ("alpha", "count", "constant"),
    [  # Jennison & Turnbull (2000), table 2.1: C_P(K, alpha)
        (0.05, 2, 2.178),
        (0.05, 3, 2.289),
        (0.05, 5, 2.413),
        (0.05, 10, 2.555),
        (0.01, 3, 2.873),
        (0.10, 3, 1.992),
    ],
)
def test_evenly_spaced_looks_have_pococks_constants(alpha, count, constant):
    level = nominal_alpha(alpha, range(1, count + 1))
    assert norm.isf(level / 2) == pytest.approx(constant, abs=6e-4)


def test_looks_at_5_10_15_test_at_22_in_a_thousand():
    assert nominal_alpha(0.05, (5, 10, 15)) == pytest.approx(0.0221, abs=5e-5)


def test_one_look_costs_nothing():
    assert nominal_alpha(0.05, (7,)) == 0.05
    assert overall_alpha(0.03, (7,)) == pytest.approx(0.03)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("looks", [(3, 4, 20), (5, 6, 7, 8), (2, 30)])
def test_uneven_looks_agree_with_the_multivariate_normal(looks, sides):
    level = 0.03
    n = np.array(looks)
    correlation = np.sqrt(np.minimum.outer(n, n) / np.maximum.outer(n, n))
    bound = np.full(len(looks), norm.isf(level / sides))
    stays = multivariate_normal.cdf(
        bound,
        cov=correlation,
        lower_limit=-bound if sides == 2 else None,
        rng=np.random.default_rng(0),
    )
    assert overall_alpha(level, looks, sides=sides) == pytest.approx(1 - stays, abs=1e-4)


@given(LEVELS, LOOKS, st.sampled_from([1, 2]))
def test_nominal_and_overall_are_inverses(alpha, looks, sides):
    level = nominal_alpha(alpha, looks, sides=sides)
    assert overall_alpha(level, looks, sides=sides) == pytest.approx(alpha, rel=1e-4)


@given(LEVELS, LOOKS, st.sampled_from([1, 2]))
def test_overall_lies_between_one_look_and_bonferroni(level, looks, sides):
    overall = overall_alpha(level, looks, sides=sides)
    assert level <= overall <= len(looks) * level


@given(st.floats(0, 0.99), st.floats(0.001, 0.01), LOOKS)
def test_overall_grows_with_the_level(level, more, looks):
    assert overall_alpha(level, looks) <= overall_alpha(level + more, looks)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sides", [1, 2])
def test_the_ends_of_the_scale_are_finite(sides):
    assert overall_alpha(0.0, (5, 10), sides=sides) == 0.0
    assert overall_alpha(1.0, (5, 10), sides=sides) == 1.0
    assert 1e-40 <= overall_alpha(1e-40, (5, 10), sides=sides) <= 2e-40


@pytest.mark.parametrize("looks", [(), (0, 5), (5, 5), (10, 5)])
def test_looks_must_increase(looks):
    with pytest.raises(ValueError, match="looks"):
        nominal_alpha(0.05, looks)


@pytest.mark.parametrize("test", ["welch", "paired"])
def test_the_chance_of_a_false_difference_at_any_look_is_alpha(test):
    looks, studies = (5, 10, 15), 60_000
    level = nominal_alpha(0.05, looks)
    start = time.perf_counter()
    a, b = np.random.default_rng(1).standard_normal((2, studies, looks[-1]))
    crossed = np.zeros(studies, dtype=bool)
    for n in looks:
        x, y = a[:, :n], b[:, :n]
        if test == "welch":
            u, v = x.var(axis=1, ddof=1) / n, y.var(axis=1, ddof=1) / n
            se, df = np.sqrt(u + v), (n - 1) * (u + v) ** 2 / (u**2 + v**2)
        else:
            se, df = np.sqrt((x - y).var(axis=1, ddof=1) / n), n - 1
        t = (x.mean(axis=1) - y.mean(axis=1)) / se
        crossed |= 2 * stdtr(df, -np.abs(t)) < level
    assert 0.042 <= crossed.mean() <= 0.055
    assert time.perf_counter() - start < 5
