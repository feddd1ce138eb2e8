"""Bare values of a factor, and the one that is none of it."""

import pytest

from autoresearch.catalogue import FACTORS
from autoresearch.topic.bare_values import choices, names, off, values
from swarm.config.base import JsonValue


@pytest.mark.parametrize(
    ("factor", "level"),
    [
        ("baseline", "none"),
        ("kl_coef", 0.0),
        ("lr_warmup", 0),
        ("curriculum", "uniform"),
        ("learning_rate", None),
        ("group_size", None),
        ("kl_estimator", None),
    ],
)
def test_what_is_none_of_a_factor(factor: str, level: JsonValue) -> None:
    assert off(factor) == level
    assert ((("none",), level) in values(factor)) == (level is not None)


@pytest.mark.parametrize("factor", FACTORS)
def test_each_value_is_a_level(factor: str) -> None:
    known = FACTORS[factor]
    for said, level in (*values(factor), *choices(factor), *names(factor)):
        assert said
        assert known.check(level) == level
