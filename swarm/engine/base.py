"""The face every engine has."""

from collections.abc import Sequence
from typing import Protocol

from swarm.records import Completion, SampleRequest


class Engine(Protocol):
    """Samples token ids from token ids, exactly: no truncation of the distribution."""

    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        """One list a request, one completion a seed, in order.

        A completion depends on its prompt, seed, temperature and the weights in force, up to
        the rounding that a batch's shape causes; never on which other rows share the batch.
        """
        ...
