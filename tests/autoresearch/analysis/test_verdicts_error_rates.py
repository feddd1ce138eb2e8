"""Whole synthetic studies, looks and stopping included: how often is the verdict wrong?"""

import math
from collections import Counter

import numpy as np
import pytest
from support.planned_scores import drawn
from support.plans import LOOKS, claim, comparison

from autoresearch.analysis.verdicts import decide, should_stop

STUDIES = 200
SD = 0.05


def study(made, effects, rng):
    """The verdicts at the look where the study stops, and that look."""
    data = drawn(rng, effects, LOOKS[-1], SD)
    for look in LOOKS:
        verdicts = decide(made, data, look=look, looks=LOOKS)
        if should_stop(made, verdicts, look, LOOKS)[0]:
            return [v.verdict for v in verdicts], look
    raise AssertionError("the last look did not stop the study")


def outcomes(made, effects, studies=STUDIES):
    rng = np.random.default_rng(0)
    return Counter(v for _ in range(studies) for v in study(made, effects, rng)[0])


def at_most(rate, studies=STUDIES):
    """`rate` of the studies plus two standard errors."""
    return studies * rate + 2 * math.sqrt(studies * rate * (1 - rate))


@pytest.mark.parametrize("test", ["welch", "paired"])
def test_equal_arms_are_rarely_called_different(test):
    made = comparison(claim("different", min_effect=SD / 2), test=test)
    found = outcomes(made, {"a": 0.0, "b": 0.0})
    assert found["supported"] <= at_most(0.05)
    assert found["inconclusive"] > STUDIES / 2


def test_the_wrong_direction_is_rarely_claimed():
    found = outcomes(comparison(claim("greater", min_effect=SD / 2)), {"a": 0.0, "b": 0.0})
    assert found["supported"] <= at_most(0.025)


def test_a_large_planted_effect_is_supported_with_few_seeds():
    made, rng = comparison(claim("greater", min_effect=SD)), np.random.default_rng(1)
    ends = [study(made, {"a": 0.0, "b": 1.5 * SD}, rng) for _ in range(STUDIES)]
    assert sum(verdicts == ["supported"] for verdicts, _ in ends) >= 0.9 * STUDIES
    assert np.mean([look for _, look in ends]) < 11


def test_planted_equivalence_is_found():
    found = outcomes(comparison(claim("different", min_effect=3 * SD)), {"a": 0.0, "b": 0.0})
    assert found["equivalent"] >= 0.95 * STUDIES


def test_an_effect_at_the_margin_is_rarely_called_equivalent():
    made = comparison(claim("different", min_effect=1.2 * SD))
    found = outcomes(made, {"a": 0.0, "b": 1.2 * SD})
    assert found["equivalent"] <= at_most(0.05)


def test_the_claimed_effect_is_rarely_refuted_when_it_is_there():
    made = comparison(claim("greater", min_effect=1.2 * SD))
    found = outcomes(made, {"a": 0.0, "b": 1.2 * SD})
    assert found["refuted"] + found["equivalent"] <= at_most(0.05)


def test_an_absent_difference_is_not_equivalence_by_default():
    found = outcomes(comparison(claim("different", min_effect=SD / 4)), {"a": 0.0, "b": 0.0})
    assert found["equivalent"] == 0


def test_many_hypotheses_share_one_error():
    made = comparison(*(claim("different", arm, min_effect=SD / 2) for arm in "bcd"))
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(STUDIES):
        wrong += "supported" in study(made, dict.fromkeys("abcd", 0.0), rng)[0]
    assert wrong <= at_most(0.05)
