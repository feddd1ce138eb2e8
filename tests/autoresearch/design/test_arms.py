import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.design.arms import build_arms
from autoresearch.study.plan import Factor
from swarm.errors import Refusal

LEVEL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(string.printable, max_size=60),
)


def treatment(name="lr", levels=(1e-3, 1e-2), control=None):
    return Factor(name=name, role="treatment", levels=levels, control=control)


def ids(*factors):
    return [arm.id for arm in build_arms(factors)]


def test_levels_are_written_compactly():
    assert ids(treatment(levels=(0.001, 1e-05, 2.0, 1e22))) == [
        "lr-0.001",
        "lr-1e-05",
        "lr-2",
        "lr-1e_22",
    ]
    assert ids(treatment("adv_std", ("none", True, False))) == [
        "adv_std-none",
        "adv_std-true",
        "adv_std-false",
    ]


def test_the_control_comes_first():
    assert ids(treatment(levels=(1, 2, 3), control=2)) == ["lr-2", "lr-1", "lr-3"]
    assert ids(treatment(levels=(0.2, None), control=None)) == ["lr-none", "lr-0.2"]
    assert ids(treatment(levels=(1, 0), control=0.0))[0] == "lr-0"


def test_two_factors_make_every_combination_from_both_controls_on():
    arms = build_arms([treatment("a", (1, 2), control=2), treatment("b", ("x", "y"))])
    assert [dict(arm.levels) for arm in arms] == [
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
    ]
    assert arms[0].id == "a-2+b-x"


def test_nuisances_and_blocks_make_no_arms():
    nuisance = Factor(name="lr", role="nuisance", levels=(1e-4, 1e-2))
    block = Factor(name="task", role="block", levels=("add", "sort"))
    assert ids(nuisance, treatment("g", (4, 8)), block) == ["g-4", "g-8"]


def test_levels_that_read_alike_stay_apart():
    assert ids(treatment("f", (None, "none", "NONE", "a/b", "a b"))) == [
        "f-none",
        "f-none-2",
        "f-NONE-3",
        "f-a_b",
        "f-a_b-2",
    ]
    assert len(set(ids(treatment("f", (1, True))))) == 2


@given(
    st.lists(
        st.lists(LEVEL, min_size=2, max_size=4, unique_by=lambda x: (isinstance(x, bool), x)),
        min_size=1,
        max_size=3,
    )
)
def test_ids_are_unique_file_names(levels):
    arms = build_arms([treatment(f"f{i}", tuple(some)) for i, some in enumerate(levels)])
    names = [arm.id.casefold() for arm in arms]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_][a-z0-9._+-]*", name) for name in names)
    assert all(len(name) < 200 for name in names)


@pytest.mark.parametrize(
    ("factors", "field"),
    [
        ([], "factors"),
        ([treatment(), treatment()], "factors"),
        ([treatment(levels=(1, 1.0))], "factors.lr.levels"),
        ([treatment(levels=(1,))], "factors.lr.levels"),
        ([treatment(levels=(1, 2), control=3)], "factors.lr.control"),
    ],
)
def test_a_design_that_compares_nothing_is_bad_input(factors, field):
    with pytest.raises(Refusal) as caught:
        build_arms(factors)
    assert caught.value.field == field
