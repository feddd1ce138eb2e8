"""Intervals over prompts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from swarm.train.intervals import share_of
from swarm.train.metric_table import passes
from swarm.train.set_figures import figures

shares = st.lists(st.sampled_from([i / 8 for i in range(9)]), min_size=1, max_size=40)


@given(shares, st.sampled_from([1.0, 2.0, 8.0]))
def test_an_interval_holds_its_mean_and_lies_among_shares(values: list[float], most: float) -> None:
    found = share_of(values, most)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.value == pytest.approx(np.mean(values))
    assert found.low < found.high


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_one_answer_a_prompt_has_wilsons(flags: list[bool]) -> None:
    wilson = binomtest(sum(flags), len(flags)).proportion_ci(0.95, method="wilson")
    found = share_of([float(flag) for flag in flags])
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))


def test_nothing_has_no_interval_and_one_prompt_says_nothing() -> None:
    assert all(map(math.isnan, vars(share_of([])).values()))
    assert (share_of([0.5], 4).low, share_of([0.5], 4).high) == (0, 1)


def test_prompts_that_score_alike_leave_a_width() -> None:
    """Student's t would say that the mean is known exactly."""
    found = share_of([0.5] * 20, 4)
    assert found.high - found.low > 0.15


def _coverage(mean: float, apart: float, n: int, k: int) -> tuple[list[float], float]:
    """How often 95 % intervals hold the truth, by figure (avg@k, then pass@j), and how often a t
    interval holds avg@k's. The chance to solve a prompt is Beta with this mean, and `apart` as its
    concentration."""
    rng = np.random.default_rng(7)
    a, b, rounds = mean * apart, (1 - mean) * apart, 300
    chances = rng.beta(a, b, 200_000)
    truth = [chances.mean(), *((1 - (1 - chances) ** j).mean() for j in passes(k))]
    held, by_t = np.zeros(len(truth)), 0
    for _ in range(rounds):
        right = rng.binomial(k, rng.beta(a, b, n))
        for i, (values, most) in enumerate(figures([(k, int(c)) for c in right], k)):
            found = share_of(values, most)
            held[i] += found.low <= truth[i] <= found.high
            if i == 0:
                half = t.ppf(0.975, n - 1) * np.std(values, ddof=1) / math.sqrt(n)
                by_t += abs(np.mean(values) - truth[0]) <= half
    return list(held / rounds), by_t / rounds


@pytest.mark.parametrize(
    ("mean", "apart", "n", "k"),
    [(0.5, 0.3, 40, 4), (0.3, 2, 40, 8), (0.1, 0.5, 200, 4), (0.9, 3, 100, 4), (0.5, 50, 40, 4)],
)
def test_intervals_cover(mean: float, apart: float, n: int, k: int) -> None:
    """Of 300 rounds at 95 %, fewer than 0.91 would be more than three standard errors below."""
    held, _ = _coverage(mean, apart, n, k)
    assert min(held) >= 0.91


def test_where_right_answers_are_few_it_covers_better_than_t() -> None:
    held, by_t = _coverage(0.02, 1, 40, 4)
    assert min(held) >= 0.91 > by_t + 0.1
