import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoresearch.design.tuning import best, candidates
from autoresearch.study.plan import Tuning


def tuning(count, *, sampler="tpe", low=1e-4, high=1e-2, log=True):
    return Tuning(
        factor="lr",
        path="optim.lr",
        low=low,
        high=high,
        log=log,
        candidates=count,
        sampler=sampler,
    )


def run(plan, seed=0, score=lambda value: 0.0):
    told = []
    for _ in range(plan.candidates):
        value = candidates(plan, seed, told)
        told.append((value, score(value)))
    return told


def values(told):
    return [value for value, _ in told]


def test_a_grid_takes_the_middles_of_equal_parts():
    assert values(run(tuning(1, sampler="grid"))) == [0.001]
    assert values(run(tuning(2, sampler="grid"))) == [0.000316, 0.00316]
    linear = tuning(2, sampler="grid", low=0.0, high=1.0, log=False)
    assert values(run(linear)) == [0.25, 0.75]


@pytest.mark.parametrize("count", [2, 3])
def test_few_tpe_candidates_are_a_grid(count):
    assert values(run(tuning(count))) == values(run(tuning(count, sampler="grid")))


def test_tpe_comes_closer_to_the_optimum_than_its_start():
    def score(value):
        return -((math.log10(value) + 2.8) ** 2)

    told = run(tuning(16), seed=1, score=score)
    start, proposed = told[:5], told[5:]
    assert max(s for _, s in proposed) > max(s for _, s in start)
    assert best(told) == pytest.approx(10**-2.8, rel=0.25)


def test_the_next_value_depends_on_the_arguments_alone():
    told = run(tuning(6), seed=3)[:4]
    assert candidates(tuning(6), 3, told) == candidates(tuning(6), 3, list(told))
    assert candidates(tuning(6), 3, told) != candidates(tuning(6), 4, told)


def test_an_unscored_value_is_neither_asked_for_again_nor_chosen():
    plan = tuning(6)
    told = run(plan, score=lambda value: None if value < 1e-3 else value)
    assert len(set(values(told))) == 6
    assert best(told) == max(values(told))


@settings(max_examples=40)
@given(
    st.integers(0, 2**40),
    st.integers(1, 8),
    st.sampled_from(["tpe", "grid"]),
    st.sampled_from([(1e-6, 1.0, True), (0.9, 0.9001, True), (-1.0, 1.0, False)]),
    st.randoms(use_true_random=False),
)
def test_no_value_is_asked_for_twice_or_out_of_range(seed, count, sampler, span, random):
    low, high, log = span
    plan = tuning(count, sampler=sampler, low=low, high=high, log=log)
    tried = values(run(plan, seed, score=lambda _: random.choice([0.0, 1.0, None])))
    assert len(set(tried)) == count
    assert all(low <= value <= high for value in tried)


def test_large_grids_have_distinct_values():
    assert len(set(values(run(tuning(150, sampler="grid", low=1e-3, high=2e-3))))) == 150


def test_nothing_is_printed(capfd):
    run(tuning(5))
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_the_best_value_has_the_best_mean_and_ties_go_to_the_smaller():
    assert best([(0.1, 0.5), (0.01, 0.5), (0.001, 0.4)]) == 0.01
    assert best([(0.1, 1.0), (0.1, 0.0), (0.01, 0.6)]) == 0.01


def test_no_more_than_the_registered_candidates():
    with pytest.raises(ValueError, match="told"):
        candidates(tuning(1), 0, [(1e-3, 0.5)])
    with pytest.raises(ValueError, match="scored"):
        best([(1e-3, None)])
