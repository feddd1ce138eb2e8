import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.design.seeds import allot
from swarm.errors import Refusal

COUNTS = st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(1, 800))


def flat(seeds):
    return [*seeds.pilot, *seeds.tuning, *seeds.confirm]


@given(st.integers(0, 2**63), COUNTS)
def test_no_seed_serves_two_phases(seed, counts):
    seeds = allot(seed, *counts)
    assert (len(seeds.pilot), len(seeds.tuning), len(seeds.confirm)) == counts
    assert len(set(flat(seeds))) == sum(counts)
    assert all(0 <= used < 2**31 for used in flat(seeds))


@given(st.integers(0, 10**6), st.integers(0, 10**6), COUNTS)
def test_two_studies_share_no_seed(one, other, counts):
    shared = set(flat(allot(one, *counts))) & set(flat(allot(other, *counts)))
    assert bool(shared) == (one == other)


@given(st.integers(0, 2**40), COUNTS)
def test_more_seeds_leave_the_earlier_ones_as_they_are(seed, counts):
    few, many = allot(seed, *counts), allot(seed, 100, 100, 800)
    assert many.confirm[: counts[2]] == few.confirm
    assert many.pilot[: counts[0]] == few.pilot
    assert many.tuning[: counts[1]] == few.tuning


def test_seeds_are_readable():
    seeds = allot(7, pilot=2, tuning=1, confirm=3)
    assert (seeds.pilot, seeds.tuning, seeds.confirm) == ((7000, 7001), (7100,), (7200, 7201, 7202))


@pytest.mark.parametrize(
    ("counts", "field"),
    [((101, 0, 1), "pilot"), ((0, -1, 1), "tuning"), ((0, 0, 0), "confirm")],
)
def test_counts_beyond_the_block_are_bad_input(counts, field):
    with pytest.raises(Refusal) as caught:
        allot(0, *counts)
    assert caught.value.field == f"seeds.{field}"
