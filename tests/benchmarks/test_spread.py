"""The interval over seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.spread import over_seeds


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8))
def test_interval_is_that_of_the_one_sample_t_test(values: list[float]) -> None:
    found = over_seeds(values)
    if np.ptp(values) < 1e-6:
        assert found.high - found.low == pytest.approx(0, abs=1e-5)
        return
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_one_seed_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two or more"):
        over_seeds([0.5])
