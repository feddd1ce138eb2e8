"""Which problems a batch asks: a pure function of the run's seed, the step and, where problems are
asked `by_signal`, of what earlier batches have shown."""

from swarm import seeds
from swarm.config.parts import DataSettings
from swarm.dataflow.difficulty import SignalByLevel
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
    signal: SignalByLevel | None = None,
) -> list[Problem]:
    """Training problems `first` to `first + count - 1` of batch `step` (from 0) of `steps`.
    `signal` is what `data.order` 'by_signal' goes by; without it every level counts alike."""
    rngs = [seeds.generator(seed, "prompt", step, index) for index in range(first, first + count)]
    if data.order == "by_signal":
        levels = task.known_levels
        chances = (signal or SignalByLevel()).chances(levels)
        drawn = [levels[int(rng.choice(len(levels), p=chances))] for rng in rngs]
        return [task.draw(rng, (level, level)) for rng, level in zip(rngs, drawn, strict=True)]
    allowed = allowed_levels(task.levels, data.order, step / max(1, steps))
    return [task.draw(rng, allowed) for rng in rngs]


def allowed_levels(levels: tuple[int, int], order: str, progress: float) -> tuple[int, int]:
    """The levels that may be asked at `progress` in [0, 1). `easy_first` opens the range from its
    easiest level to its full width over the first half (a staged curriculum as in Bengio et al.
    2009)."""
    low, high = levels
    if order == "uniform" or progress >= 0.5:
        return levels
    return low, low + int((high - low + 1) * progress / 0.5)
