"""Which problems are asked: a function of seed and step."""

from hypothesis import given
from hypothesis import strategies as st

from swarm import tasks
from swarm.config.parts import DataSettings, TaskSettings
from swarm.dataflow.prompts import allowed_levels, batch_problems
from swarm.tasks import Problem

TASK = tasks.load(TaskSettings(args={"min": 4, "max": 7}))


def problems(
    step: int, *, seed: int = 0, order: str = "uniform", count: int = 16, steps: int = 10
) -> list[Problem]:
    return batch_problems(
        TASK, DataSettings(order=order), seed=seed, step=step, steps=steps, count=count
    )


def test_a_batch_can_be_asked_again() -> None:
    assert problems(3) == problems(3)
    assert problems(3, count=8) == problems(3)[:8]


def test_steps_and_seeds_ask_other_problems() -> None:
    assert problems(3) != problems(4)
    assert problems(3) != problems(3, seed=1)


def test_only_training_prompts_are_asked() -> None:
    assert {p.split for step in range(20) for p in problems(step)} == {"train"}


class TestCurriculum:
    def levels(self, step: int, order: str) -> set[int]:
        return {p.level for p in problems(step, order=order, count=64)}

    def test_uniform_asks_every_level_from_the_start(self) -> None:
        assert self.levels(0, "uniform") == {4, 5, 6, 7}

    def test_easy_first_opens_up_over_the_first_half(self) -> None:
        opened = [self.levels(step, "easy_first") for step in range(10)]
        assert opened == [{4}, {4}, {4, 5}, {4, 5, 6}, {4, 5, 6, 7}, *[{4, 5, 6, 7}] * 5]

    @given(
        low=st.integers(1, 9), width=st.integers(0, 9), progress=st.floats(0, 1, exclude_max=True)
    )
    def test_the_range_stays_inside_and_never_narrows(
        self, low: int, width: int, progress: float
    ) -> None:
        whole = (low, low + width)
        now = allowed_levels(whole, "easy_first", progress)
        later = allowed_levels(whole, "easy_first", min(1.0, progress + 0.1))
        assert now[0] == low
        assert low <= now[1] <= later[1] <= whole[1]
        assert allowed_levels(whole, "uniform", progress) == whole
