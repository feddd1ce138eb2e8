"""Each repair by itself: when it is needed, and what it would do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.catalogue import FACTORS
from autoresearch.planner.repairs import NeedsRepair, fit_rollouts, take_nearest_levels, widen_range
from autoresearch.planner.treatments import Treatment
from autoresearch.playbook.schema import PlaybookTuning
from autoresearch.study.intent import AskedFactor
from swarm.errors import Refusal

RANK = FACTORS["lora_rank"]
LOW, HIGH = 1, 512


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=3, unique=True))
def test_levels_within_the_range_stay_and_others_move_to_its_end(levels: list[int]) -> None:
    asked = AskedFactor(name="lora_rank", levels=tuple(levels))
    if all(LOW <= level <= HIGH for level in levels):
        take_nearest_levels(RANK, asked)
        return
    ends = list(dict.fromkeys(min(max(level, LOW), HIGH) for level in levels))
    if len(ends) == 1 < len(levels):
        with pytest.raises(Refusal, match="which leaves one level"):
            take_nearest_levels(RANK, asked)
        return
    with pytest.raises(NeedsRepair) as needed:
        take_nearest_levels(RANK, asked)
    moved = needed.value.repair.factor
    assert moved is not None
    assert list(moved.levels) == ends


@pytest.mark.parametrize("level", ["many", True, 2.5])
def test_what_is_no_number_of_the_factor_is_refused(level: object) -> None:
    with pytest.raises(Refusal, match="lora_rank"):
        take_nearest_levels(RANK, AskedFactor(name="lora_rank", levels=(level,)))  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=3), st.integers(1, 600))
def test_fitted_rollouts_divide_by_every_group_size(sizes: list[int], rollouts: int) -> None:
    treatment = Treatment(FACTORS["group_size"], tuple(sizes), sizes[0])
    try:
        fit_rollouts({"batch.rollouts": rollouts}, [treatment], ())
    except NeedsRepair as needed:
        fitted = needed.repair.settings["batch.rollouts"]
        assert isinstance(fitted, int)
        assert fitted > 0
        assert all(fitted % size == 0 for size in sizes)
        assert any(rollouts % size for size in sizes)
    else:
        assert all(rollouts % size == 0 for size in sizes)


def test_rollouts_that_the_user_chose_are_left_alone() -> None:
    treatment = Treatment(FACTORS["group_size"], (6, 10), 6)
    fit_rollouts({"batch.rollouts": 128}, [treatment], ("batch.rollouts",))


@given(st.floats(1e-6, 1.0))
def test_a_widened_range_holds_the_value_and_what_it_held(value: float) -> None:
    spec = PlaybookTuning(low=3e-4, high=2e-3)
    try:
        widen_range(spec, value)
    except NeedsRepair as needed:
        wide = spec.model_copy(update=dict(needed.repair.settings))
        assert wide.low <= min(value, spec.low)
        assert wide.high >= max(value, spec.high)
        widen_range(wide, value)
    else:
        assert spec.low <= value <= spec.high
