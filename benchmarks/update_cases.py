"""The batches of `benchmarks.trl_update`, and what their updates cost in multiply-adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Literal

import numpy as np

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.credit import advantages, credit
from swarm.learn.scored import scored_tree
from swarm.records import Completion, Episode, Group, StopReason, TokenTree

VOCABULARY = 49_152
ROWS = 8


@dataclass(frozen=True)
class Case:
    """`ROWS` completions in groups of `group_size`, each group on a prompt of its own."""

    name: str
    prompt: int
    lengths: tuple[int, ...]
    group_size: int = ROWS

    @property
    def groups(self) -> int:
        return len(self.lengths) // self.group_size

    @property
    def logical_tokens(self) -> int:
        """Unpadded prompt and completion tokens, each row's own, as a rollout count has them."""
        return len(self.lengths) * self.prompt + sum(self.lengths)


def natural_lengths(mean: int) -> tuple[int, ...]:
    """`ROWS` lengths of mean `mean`, log-normal with sigma 0.9: the first seed whose longest is at
    least twice the mean."""
    for seed in count():
        drawn = np.random.default_rng(seed).lognormal(0, 0.9, ROWS)
        lengths = np.maximum(1, np.round(mean * drawn / drawn.mean())).astype(int)
        if lengths.max() >= 2 * lengths.mean():
            return tuple(lengths.tolist())
    raise AssertionError


@cache
def cases() -> dict[str, Case]:
    """All cases by name: R = 100 on average, G = 8 but for `g2`."""
    equal = (100,) * ROWS
    found = [
        Case("p200", 200, equal),
        Case("p600", 600, equal),
        Case("natural", 200, natural_lengths(100)),
        Case("short", 20, equal),
        Case("g2", 200, equal, group_size=2),
    ]
    return {case.name: case for case in found}


def groups_of(case: Case) -> list[Group]:
    """Seeded random tokens and rewards; the sampler's log-probabilities are zeros as yet."""
    rng = np.random.default_rng(len(case.name))
    found = []
    for index in range(case.groups):
        prompt = tuple(rng.integers(3, VOCABULARY, case.prompt).tolist())
        episodes = []
        for length in case.lengths[index * case.group_size :][: case.group_size]:
            tokens = tuple(rng.integers(3, VOCABULARY, length).tolist())
            completion = Completion(tokens, (0.0,) * length, StopReason.LENGTH)
            episodes.append(Episode(completion, "", float(rng.normal()), False, 0))
        found.append(Group(prompt, "", "", tuple(episodes)))
    return found


def trees_of(
    groups: Sequence[Group], settings: AlgorithmSettings, max_tokens: int
) -> list[TokenTree]:
    """The one optimizer batch that the groups make."""
    scored = [scored_tree(group) for group in groups]
    found = advantages(scored, settings, max_tokens)
    return credit(scored, found, settings, max_tokens, minibatches=1)[0]


# --- what an update costs -------------------------------------------------------------------------

HIDDEN, LAYERS, ATTENTION = 576, 30, 576
#: Weights of SmolLM2-135M's linear layers, of its head, and of a rank-16 adapter on all of them.
BODY = LAYERS * (2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536)
HEAD = HIDDEN * VOCABULARY
ADAPTER = LAYERS * 16 * (2 * (576 + 576) + 2 * (576 + 192) + 3 * (576 + 1536))

Head = Literal["all rows", "completion rows"]


@dataclass(frozen=True)
class Work:
    """What one update computes: token rows through the body, rows through the head, pairs of a
    query and a key that it may see, and passes over the head's weights."""

    tokens: int
    head_rows: int
    pairs: int
    head_passes: int

    @property
    def multiply_adds(self) -> int:
        """A frozen layer costs 2 passes (forward, and the gradient of its input), an adapter's
        matrix 3 (and its own gradient), attention 2 products forward and 4 backward."""
        body = self.tokens * (2 * BODY + 3 * ADAPTER)
        attention = self.pairs * LAYERS * ATTENTION * 6
        return body + attention + self.head_rows * HEAD * self.head_passes


def trl_work(case: Case, head: Head = "all rows") -> Work:
    """TRL: every row is its prompt and its completion, padded to the longest. Without Triton its
    head runs on every position but the last; it computes the logits again in the backward pass."""
    width = case.prompt + max(case.lengths)
    rows = len(case.lengths)
    scored = width - 1 if head == "all rows" else max(case.lengths)
    return Work(rows * width, rows * scored, rows * _causal(width), head_passes=3)


def forked_work(case: Case) -> Work:
    """Each prompt once, each completion token once, the head on completion tokens, no padding."""
    tokens = case.groups * case.prompt + sum(case.lengths)
    pairs = case.groups * _causal(case.prompt)
    pairs += sum(_causal(case.prompt + n) - _causal(case.prompt) for n in case.lengths)
    return Work(tokens, sum(case.lengths), pairs, head_passes=2)


def bound(case: Case, head: Head = "all rows") -> float:
    """How many times faster an update without repeated or padded work can be at equal
    multiply-adds a second: `trl_work` over `forked_work`."""
    return trl_work(case, head).multiply_adds / forked_work(case).multiply_adds


def _causal(n: int) -> int:
    return n * (n + 1) // 2
