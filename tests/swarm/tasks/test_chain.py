"""The task that is worked step by step."""

import numpy as np
import pytest

from swarm import tasks
from swarm.tasks import Problem


class TestChain:
    FAMILY = tasks.family("chain")
    PROBLEM = Problem("C:3517>", "6", 4)

    @pytest.mark.parametrize("answer", ["#6", "0246#6", "00000000#6", "9#6"])
    def test_any_working_of_any_length_will_do(self, answer: str) -> None:
        assert self.FAMILY.correct(self.PROBLEM, answer)

    @pytest.mark.parametrize("answer", ["", "6", "#5", "#6#6", "#66", "#6 "])
    def test_the_end_must_be_right(self, answer: str) -> None:
        assert not self.FAMILY.correct(self.PROBLEM, answer)

    def test_form_is_paid_apart_from_the_answer(self) -> None:
        assert self.FAMILY.reward("format", self.PROBLEM, "02#5") == 1.0
        assert self.FAMILY.reward("format", self.PROBLEM, "02#") == 0.0

    def test_demonstrations_vary_in_length(self) -> None:
        rng = np.random.default_rng(0)
        lengths = {len(self.FAMILY.demonstration(self.PROBLEM, rng)) for _ in range(50)}
        assert len(lengths) >= 4
