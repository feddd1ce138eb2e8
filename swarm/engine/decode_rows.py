"""The completions in flight, as arrays with one entry a batch row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from swarm.records import Completion, SampleRequest, StopReason

#: A completion: the index of its request, and of its seed within that request.
Member = tuple[int, int]


@dataclass(frozen=True)
class Moves:
    """Rows that took the places of finished ones: row `sources[i]` is now row `targets[i]`."""

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]


class Rows:
    """Rows 0 to `count` - 1 are in flight; a finished one's place goes to the last of them.

    By row: `length` (keys and values in the cache), `last` (the token to feed next),
    `temperature`, and privately the draws, tokens and log-probabilities of its completion.
    """

    def __init__(self, requests: Sequence[SampleRequest], stops: frozenset[int], size: int) -> None:
        longest = max((request.max_tokens for request in requests), default=0)
        self.requests = requests
        self.stops = np.array(sorted(stops), np.int64)
        self.count = 0
        self.members: list[Member] = []
        self.length = np.zeros(size, np.int64)
        self.last = np.zeros(size, np.int64)
        self.temperature = np.ones(size, np.float32)
        self._drawn = np.zeros(size, np.int64)
        self._limit = np.zeros(size, np.int64)
        self._uniforms = np.zeros((size, longest))
        self._tokens = np.zeros((size, longest), np.int64)
        self._logprobs = np.zeros((size, longest), np.float32)

    def admit(self, members: Sequence[Member], limits: Sequence[int]) -> None:
        """New rows behind the others, their prompts in the cache, nothing drawn yet."""
        rows = slice(self.count, self.count + len(members))
        asked = [self.requests[r] for r, _ in members]
        self.members += members
        self.count += len(members)
        self.length[rows] = [len(request.prompt) for request in asked]
        self.temperature[rows] = [request.temperature for request in asked]
        self._limit[rows] = limits
        self._drawn[rows] = 0
        for row, request, (_, m) in zip(range(rows.start, rows.stop), asked, members, strict=True):
            rng = np.random.Generator(np.random.Philox(request.seeds[m]))
            self._uniforms[row, : request.max_tokens] = rng.random(request.max_tokens)

    def uniforms(self, rows: slice) -> npt.NDArray[np.float64]:
        """The uniform of each row's next token."""
        here = np.arange(rows.start, rows.stop)
        return self._uniforms[here, self._drawn[here]]

    def record(
        self, rows: slice, tokens: npt.NDArray[np.int64], logprobs: npt.NDArray[np.float32]
    ) -> None:
        """Append one drawn token to each of the rows."""
        here = np.arange(rows.start, rows.stop)
        self._tokens[here, self._drawn[here]] = tokens
        self._logprobs[here, self._drawn[here]] = logprobs
        self.last[rows] = tokens
        self._drawn[rows] += 1

    def finish(self, results: list[dict[int, Completion]]) -> Moves:
        """Hand out the finished completions and close their gaps with the last rows in flight."""
        stopped = np.isin(self.last[: self.count], self.stops)
        done = stopped | (self._drawn[: self.count] >= self._limit[: self.count])
        for row in np.flatnonzero(done).tolist():
            r, m = self.members[row]
            length = self._drawn[row]
            results[r][m] = Completion(
                tuple(self._tokens[row, :length].tolist()),
                tuple(self._logprobs[row, :length].tolist()),
                StopReason.STOP if stopped[row] else StopReason.LENGTH,
            )
        left = self.count - int(done.sum())
        moves = Moves(left + np.flatnonzero(~done[left:]), np.flatnonzero(done[:left]))
        for array in (
            self.length,
            self.last,
            self.temperature,
            self._drawn,
            self._limit,
            self._uniforms,
            self._tokens,
            self._logprobs,
        ):
            array[moves.targets] = array[moves.sources]
        for source, target in zip(moves.sources.tolist(), moves.targets.tolist(), strict=True):
            self.members[target] = self.members[source]
        del self.members[left:]
        self.count = left
        return moves
