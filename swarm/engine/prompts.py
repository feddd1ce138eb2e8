"""Prompts on their way into the batch: prefilled once, kept until their last member is admitted."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from swarm.engine.rows import Member
from swarm.engine.trunk import Trunk
from swarm.records import SampleRequest

#: A prefill holds prompts of at most this many times the length of its shortest, and some tokens:
#: another pass costs more than that padding.
PADDING, SLACK = 1.25, 16

#: Tokens of a prefill, padding included, unless one prompt alone has more.
PREFILL_TOKENS = 8192


@dataclass(frozen=True)
class Prefill:
    """Prompts that went through the model together: keys and values [L, 2, P, K, W, D] and
    next-token logits [P, V]."""

    kv: Tensor
    logits_PV: Tensor


@dataclass(frozen=True)
class Admitted:
    """Members of prompts of one prefill; `places` are their prompts' indices there."""

    prefill: Prefill
    members: list[Member]
    places: list[int]


class Prompts:
    """Requests in their order, as members that wait for a row."""

    def __init__(self, trunk: Trunk, requests: Sequence[SampleRequest], served: set[int]) -> None:
        """`served` are the requests that get rows at all."""
        self._trunk = trunk
        self._requests = requests
        self._asked = deque(r for r in range(len(requests)) if r in served)
        self._ready: deque[tuple[Member, Prefill, int]] = deque()
        self.waiting = sum(len(requests[r].seeds) for r in served)

    def take(self, rows: int) -> list[Admitted]:
        """The next `rows` members (fewer at the end), prefilling what they need."""
        wanted: list[int] = []
        coming = len(self._ready)
        while coming < rows and self._asked:
            wanted.append(self._asked.popleft())
            coming += len(self._requests[wanted[-1]].seeds)
        self._prefill(wanted)
        taken = [self._ready.popleft() for _ in range(min(rows, len(self._ready)))]
        self.waiting -= len(taken)
        by_prefill: dict[int, Admitted] = {}
        for member, prefill, place in taken:
            found = by_prefill.setdefault(id(prefill), Admitted(prefill, [], []))
            found.members.append(member)
            found.places.append(place)
        return list(by_prefill.values())

    def _prefill(self, wanted: Sequence[int]) -> None:
        """Put the members of the wanted requests among those that are ready, in order."""
        place_of: dict[int, tuple[Prefill, int]] = {}
        for part in buckets([len(self._requests[r].prompt) for r in wanted]):
            numbers = [wanted[i] for i in part]
            asked = [self._requests[r] for r in numbers]
            kv, logits_PV = self._trunk.prefill([a.prompt for a in asked], [a.slot for a in asked])
            prefill = Prefill(kv, logits_PV)
            place_of |= {r: (prefill, place) for place, r in enumerate(numbers)}
        for r in wanted:
            self._ready += (((r, m), *place_of[r]) for m in range(len(self._requests[r].seeds)))


def buckets(lengths: Sequence[int]) -> list[list[int]]:
    """Indices into `lengths`, in parts of similar length: the shortest first."""
    parts: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        fits = (
            parts
            and lengths[i] <= PADDING * lengths[parts[-1][0]] + SLACK
            and lengths[i] * (len(parts[-1]) + 1) <= PREFILL_TOKENS
        )
        if fits:
            parts[-1].append(i)
        else:
            parts.append([i])
    return parts
