"""Tasks on strings: what they pay for."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swarm import tasks
from swarm.tasks import Problem, TaskFamily

seeds_ = st.integers(0, 2**32 - 1)


def problem_of(family: TaskFamily, seed: int, level: int) -> Problem:
    return family.problem(np.random.default_rng(seed), level)


class TestOrdersProxy:
    """`order` pays for a sorted look; the true metric asks for the right letters."""

    FAMILY = tasks.family("order")
    PROBLEM = Problem("O:dbcahgf>", "abcdfgh", 7)

    def test_it_can_be_exploited(self) -> None:
        for answer in ("aaaaaaa", "zzzzzzz", "abcdefg"):
            assert self.FAMILY.reward("proxy", self.PROBLEM, answer) == 1.0
            assert not self.FAMILY.correct(self.PROBLEM, answer)

    @given(seed=seeds_, level=st.integers(2, 12))
    def test_one_letter_repeated_always_earns_it_and_is_wrong(self, seed: int, level: int) -> None:
        problem = problem_of(self.FAMILY, seed, level)
        assume(problem.answer != "a" * level)
        assert self.FAMILY.reward("proxy", problem, "a" * level) == 1.0
        assert self.FAMILY.reward("exact", problem, "a" * level) == 0.0

    @pytest.mark.parametrize(
        ("answer", "earned"), [("abcdfg", 0.0), ("abcdfghz", 0.0), ("abdcfgh", 5 / 6), ("", 0.0)]
    )
    def test_what_it_pays(self, answer: str, earned: float) -> None:
        assert self.FAMILY.reward("proxy", self.PROBLEM, answer) == pytest.approx(earned)


@pytest.mark.parametrize(
    ("answer", "earned"), [("dcba", 1.0), ("dcbx", 0.75), ("dcbaa", 0.8), ("", 0.0), ("abcd", 0.0)]
)
def test_partial_credit_is_the_share_of_places(answer: str, earned: float) -> None:
    problem = Problem("R:abcd>", "dcba", 4)
    assert tasks.family("reverse").reward("partial", problem, answer) == earned
