import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reward.curve import (
    SMOOTHED,
    Curve,
    Reached,
    mean_interval,
    paired_ratio,
    reach,
    reached_ratio,
)

positive = st.floats(0.1, 100)


def curve(*accuracy: float) -> Curve:
    """An evaluation before training and after each step; step k ends at 10 k seconds."""
    steps = len(accuracy) - 1
    clock = tuple(10.0 * (k + 1) for k in range(steps))
    return Curve(5.0, clock, (0.5,) * steps, tuple(enumerate(accuracy)), (0.1,))


def test_the_mean_of_the_last_evaluations_reaches_the_threshold():
    assert SMOOTHED == 3
    assert reach(curve(0.4, 0.9, 0.5, 0.5, 0.6, 0.7), 0.6) == Reached(2, 20.0, False)
    assert reach(curve(0.4, 0.9, 0.2, 0.5, 0.6, 0.7), 0.6) == Reached(5, 50.0, False)


def test_a_run_that_stays_below_is_censored_at_its_end():
    assert reach(curve(0.4, 0.5, 0.5, 0.5), 0.6) == Reached(3, 30.0, True)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_is_never_reached_sooner(accuracy, one, other):
    low, high = sorted((one, other))
    assert reach(curve(*accuracy), low).seconds <= reach(curve(*accuracy), high).seconds


def test_the_start_of_the_process_is_added_to_every_step():
    run = curve(*[0.4] * 5)
    assert run.with_startup().clock == (15.0, 25.0, 35.0, 45.0)
    assert run.with_startup().step_seconds() == run.step_seconds()


def test_the_untrained_policy_is_no_part_of_the_mean_accuracy():
    assert curve(0.0, 0.5, 0.7).mean_accuracy() == pytest.approx(0.6)


def test_warm_up_steps_are_left_out_of_the_median_step():
    run = replace(curve(*[0.4] * 7), clock=(9.0, 90.0, 900.0, 901.0, 902.0, 903.0))
    assert run.step_seconds(skip=3) == 1.0


def test_a_curve_survives_json():
    run = curve(0.4, 0.5)
    assert Curve.from_json(json.loads(json.dumps(run.to_json()))) == run


@given(st.lists(positive, min_size=2, max_size=8), positive)
def test_a_common_factor_is_the_ratio_and_both_its_bounds(times, factor):
    found = paired_ratio([factor * t for t in times], times)
    assert [found.value, found.low, found.high] == pytest.approx([factor] * 3)


def test_the_interval_is_students():
    """scipy's t at 0.975 and 2 degrees of freedom is 4.3027; the standard error is 1 / sqrt 3."""
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert (mean, high - mean) == pytest.approx((2.0, 4.30265 / math.sqrt(3)), rel=1e-4)
    assert mean - low == pytest.approx(high - mean)
    with pytest.raises(ValueError, match="two values"):
        mean_interval([1.0])


def test_a_censored_slow_run_counts_as_long_as_it_was_watched():
    fast = [Reached(10, 10.0, False)] * 2
    slow = [Reached(20, 40.0, True), Reached(20, 40.0, False)]
    seconds = reached_ratio(slow, fast, lambda run: run.seconds)
    steps = reached_ratio(slow, fast, lambda run: run.step)
    assert seconds is not None
    assert steps is not None
    assert (seconds.value, steps.value) == pytest.approx((4.0, 2.0))


def test_a_censored_fast_run_leaves_no_ratio():
    fast = [Reached(10, 10.0, False), Reached(40, 40.0, True)]
    slow = [Reached(40, 40.0, False)] * 2
    assert reached_ratio(slow, fast, lambda run: run.seconds) is None
