"""Prompts on their way into the batch: prefilled once, kept until their last member is admitted.

What all prompts begin with (a system message, worked examples) is prefilled once for all of them.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.engine.decode_rows import Member
from swarm.engine.trunk import Trunk
from swarm.records import SampleRequest

#: The longest prompt of a prefill has at most `PADDING` times the tokens of its shortest, plus
#: `SLACK`: up to there, padding costs less than another pass.
PADDING, SLACK = 1.25, 16

#: Tokens of a prefill, padding included, unless one prompt alone has more.
PREFILL_TOKENS = 8192

#: A common prefix gets a pass of its own where it saves this many tokens: about where a pass of
#: few tokens over a small model has paid for itself.
WORTH = 512


@dataclass(frozen=True)
class Prefix:
    """The first `length` tokens of every prompt, as keys and values [L, 2, S, K, length, D] at the
    `places` of their slots."""

    length: int
    kv: Tensor
    places: dict[str | None, int]


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
        self._prefix = _common(trunk, [requests[r] for r in self._asked])
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
            prefill = Prefill(*_continued(self._trunk, self._prefix, asked))
            place_of |= {r: (prefill, place) for place, r in enumerate(numbers)}
        for r in wanted:
            self._ready += (((r, m), *place_of[r]) for m in range(len(self._requests[r].seeds)))


def _common(trunk: Trunk, asked: Sequence[SampleRequest]) -> Prefix | None:
    """What all these prompts begin with, short of a whole prompt; None where that saves little."""
    prompts = [request.prompt for request in asked]
    least, most = min(prompts), max(prompts)
    whole = min(map(len, prompts)) - 1
    length = next((i for i in range(whole) if least[i] != most[i]), whole)
    slots = list(dict.fromkeys(request.slot for request in asked))
    if length * (len(asked) - len(slots)) < WORTH:
        return None
    kv, _ = trunk.prefill([least[:length]] * len(slots), slots)
    return Prefix(length, kv, {slot: place for place, slot in enumerate(slots)})


def _continued(
    trunk: Trunk, prefix: Prefix | None, asked: Sequence[SampleRequest]
) -> tuple[Tensor, Tensor]:
    """Keys and values of whole prompts and their next-token logits, from the prefix on."""
    slots = [request.slot for request in asked]
    if prefix is None:
        return trunk.prefill([request.prompt for request in asked], slots)
    places = torch.tensor([prefix.places[slot] for slot in slots], device=prefix.kv.device)
    rest = [request.prompt[prefix.length :] for request in asked]
    return trunk.prefill(rest, slots, prefix.kv.index_select(2, places))


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
