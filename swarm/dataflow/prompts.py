"""Which problems a batch asks. A pure function of the run's seed and the step: nothing to save."""

from swarm import seeds
from swarm.config import DataSettings
from swarm.tasks import Problem, Task


def batch_problems(
    task: Task,
    data: DataSettings,
    *,
    seed: int,
    step: int,
    steps: int,
    count: int,
    first: int = 0,
) -> list[Problem]:
    """Training problems `first` to `first + count - 1` of batch `step` (from 0) of `steps`."""
    allowed = allowed_levels(task.levels, data.order, step / max(1, steps))
    return [
        task.draw(seeds.generator(seed, "prompt", step, index), allowed)
        for index in range(first, first + count)
    ]


def allowed_levels(levels: tuple[int, int], order: str, progress: float) -> tuple[int, int]:
    """The levels that may be asked at `progress` in [0, 1).

    `easy_first` opens the range from its easiest level to its full width over the first half
    (a staged curriculum as in Bengio et al. 2009).
    """
    low, high = levels
    if order == "uniform" or progress >= 0.5:
        return levels
    return low, low + int((high - low + 1) * progress / 0.5)
