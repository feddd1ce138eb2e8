"""What an update takes besides its trees."""

import numpy as np

from swarm.learn.learner import PerTreeArrays


def arrays(*starts: int) -> list[np.ndarray]:
    return [np.arange(start, start + 2, dtype=np.float32) for start in starts]


def test_a_part_holds_the_arrays_of_its_trees_in_the_order_asked() -> None:
    part = PerTreeArrays(reference=arrays(0, 10, 20), values=arrays(5, 15, 25)).part([2, 0])
    assert [a.tolist() for a in part.reference] == [[20, 21], [0, 1]]
    assert [a.tolist() for a in part.values] == [[25, 26], [5, 6]]


def test_what_is_not_there_stays_away() -> None:
    assert PerTreeArrays().part([0, 1]) == PerTreeArrays()
    part = PerTreeArrays(anchor=arrays(0, 10)).part([])
    assert (part.reference, part.anchor, part.values, part.returns) == (None, [], None, None)
