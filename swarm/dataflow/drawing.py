"""Draw a batch's groups, and replacements of those that carry no signal."""

from collections.abc import Callable
from dataclasses import dataclass

from swarm.config.parts import DataSettings
from swarm.learn.credit import keep_groups
from swarm.records import Group

#: (round, first, count) -> groups of the batch's problems first .. first + count - 1.
Ask = Callable[[int, int, int], list[Group]]


@dataclass(frozen=True)
class Drawn:
    """A batch: every group that was sampled, those that train, and the counts behind them.
    `dropped` groups were sampled and do not train, `resampled` were drawn as replacements,
    `missing` is how many the batch is short of being full."""

    groups: list[Group]
    kept: list[Group]
    dropped: int
    resampled: int
    missing: int


#: The batch of an algorithm that draws none.
NOTHING = Drawn([], [], 0, 0, 0)


def draw_batch(ask: Ask, wanted: int, data: DataSettings) -> Drawn:
    """`wanted` groups, filtered by `data.group_filter`; `resample` asks for as many other problems
    as are missing, until none is or `data.resample_rounds` are over."""
    groups = ask(0, 0, wanted)
    kept = keep_groups(groups, data.group_filter)
    rounds = data.resample_rounds if data.group_filter == "resample" else 0
    for number in range(1, rounds + 1):
        if len(kept) >= wanted:
            break
        more = ask(number, len(groups), wanted - len(kept))
        groups = groups + more
        kept = kept + keep_groups(more, data.group_filter)
    return Drawn(
        groups, kept, len(groups) - len(kept), len(groups) - wanted, max(0, wanted - len(kept))
    )
