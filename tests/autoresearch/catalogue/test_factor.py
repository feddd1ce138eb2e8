"""Entries of the catalogue: complete, and levels checked."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.catalogue import FACTORS, CatalogueFactor
from swarm import tasks
from swarm.config.checked import known_paths
from swarm.errors import Refusal

ALL = pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)


@ALL
def test_an_entry_is_complete(factor: CatalogueFactor) -> None:
    assert factor.aliases
    assert factor.expected.endswith(".")
    assert re.search(r"arXiv:\d{4}\.\d{4,5}|\(.+, \d{4}\)", factor.source)
    assert factor.null_when
    assert factor.paths <= set(known_paths())
    assert factor.task is None or factor.task in tasks.names()


@ALL
def test_levels_are_legal_and_hold_the_control(factor: CatalogueFactor) -> None:
    assert factor.control in factor.levels
    assert len(set(factor.levels)) == len(factor.levels) > 1
    for level in (*factor.levels, *factor.pair, *factor.words, *factor.hints):
        assert factor.check(level) == level


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers())
def test_a_number_is_a_level_exactly_inside_the_range(value: float) -> None:
    factor = FACTORS["lora_rank"]
    whole = value == value and abs(value) < 1e9 and float(value).is_integer()
    if whole and 1 <= value <= 512:
        assert factor.check(value) == value
        assert isinstance(factor.check(value), int)
    else:
        with pytest.raises(Refusal, match="whole number from 1 to 512"):
            factor.check(value)


@pytest.mark.parametrize("level", [True, "8", None, 0.5])
def test_a_level_of_another_type_is_refused(level: object) -> None:
    with pytest.raises(Refusal):
        FACTORS["group_size"].check(level)  # type: ignore[arg-type]
