"""Dynamic sampling: groups without signal are replaced, within bounds, and all is counted."""

import pytest
from support.scored_groups import episode, group

from swarm.config.parts import DataSettings
from swarm.dataflow.drawing import draw_batch
from swarm.records import Group


class Problems:
    """Problem i has rewards that differ where `mixed(i)`; keeps what it was asked for."""

    def __init__(self, mixed) -> None:
        self.mixed = mixed
        self.asked: list[tuple[int, int, int]] = []

    def __call__(self, number: int, first: int, count: int) -> list[Group]:
        self.asked.append((number, first, count))
        return [
            group([2, i], episode([3], 1.0), episode([4], 0.0 if self.mixed(i) else 1.0))
            for i in range(first, first + count)
        ]


def ids(groups: list[Group]) -> list[int]:
    return [g.prompt[1] for g in groups]


RESAMPLE = DataSettings(group_filter="resample", resample_rounds=3)


def test_without_it_a_batch_is_asked_once() -> None:
    for group_filter, kept in (("none", [0, 1, 2, 3]), ("mixed_rewards", [0, 2])):
        problems = Problems(lambda i: i % 2 == 0)
        drawn = draw_batch(problems, 4, DataSettings(group_filter=group_filter))
        assert problems.asked == [(0, 0, 4)]
        assert ids(drawn.kept) == kept
        assert (drawn.dropped, drawn.resampled, drawn.missing) == (4 - len(kept), 0, 4 - len(kept))


def test_replacements_are_other_problems_until_the_batch_is_full() -> None:
    problems = Problems(lambda i: i % 2 == 0)
    drawn = draw_batch(problems, 4, RESAMPLE)
    assert problems.asked == [(0, 0, 4), (1, 4, 2), (2, 6, 1)]
    assert ids(drawn.kept) == [0, 2, 4, 6]
    assert ids(drawn.groups) == [0, 1, 2, 3, 4, 5, 6]
    assert (drawn.dropped, drawn.resampled, drawn.missing) == (3, 3, 0)


def test_a_full_batch_asks_for_no_more() -> None:
    problems = Problems(lambda i: True)
    assert draw_batch(problems, 4, RESAMPLE).resampled == 0
    assert len(problems.asked) == 1


def test_the_rounds_are_bounded_and_what_is_missing_is_counted() -> None:
    problems = Problems(lambda i: False)
    drawn = draw_batch(problems, 4, RESAMPLE)
    assert [count for _, _, count in problems.asked] == [4, 4, 4, 4]
    assert (drawn.kept, drawn.dropped, drawn.resampled, drawn.missing) == ([], 16, 12, 4)


@pytest.mark.parametrize("share", [2, 3, 5])
def test_no_problem_is_asked_twice_and_none_is_lost(share: int) -> None:
    problems = Problems(lambda i: i % share == 0)
    drawn = draw_batch(problems, 8, RESAMPLE)
    asked = [i for _, first, count in problems.asked for i in range(first, first + count)]
    assert asked == list(range(len(asked))) == ids(drawn.groups)
    assert len(drawn.kept) + drawn.missing == 8
    assert len(drawn.kept) + drawn.dropped == len(drawn.groups)
