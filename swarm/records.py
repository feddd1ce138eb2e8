"""The records that rollouts, dataflow and learning hand to each other. No torch.

A `TokenTree` is the unit of engine and learner. A GRPO group is a tree of depth two (the prompt,
then one node an answer), an SFT row a prompt with one supervised child, a multi-turn episode a
path of alternating observation and action nodes. Tokens shared by branches stand once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
RealArray = npt.NDArray[np.floating[Any]]  # fp32, or what is not rounded to it yet
BoolArray = npt.NDArray[np.bool_]


class StopReason(StrEnum):
    """Why a completion ended: by a stop token; at its budget or the end of the model's context;
    or before its first token, as its prompt leaves no room in the context."""

    STOP = "stop"
    LENGTH = "length"
    OVERLONG = "overlong"


@dataclass(frozen=True)
class Limit:
    """The longest row that a model takes, prompt and answer, and why: empty where it is the
    length of its positions."""

    tokens: float
    why: str = ""


NO_LIMIT = Limit(math.inf)


@dataclass(frozen=True)
class SampleRequest:
    """Draw one completion of `prompt` for each of `seeds`, from the adapter in `slot`; None is the
    bare base, or the weights of a policy that trains them all."""

    prompt: tuple[int, ...]
    seeds: tuple[int, ...]
    max_tokens: int
    temperature: float = 1.0
    slot: str | None = None


@dataclass(frozen=True)
class Completion:
    """One sampled completion: its tokens (a sampled stop token included) and their
    log-probabilities under the sampling law, i.e. at its temperature. Only an overlong one has no
    tokens."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    stop: StopReason


class Engine(Protocol):
    """Samples token ids from token ids, exactly: no truncation of the distribution."""

    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        """One list a request, one completion a seed, in order. A completion depends on its prompt,
        seed, temperature and the weights in force, up to the rounding that a batch's shape causes;
        never on which other rows share the batch."""
        ...


@dataclass(frozen=True)
class Node:
    """A run of tokens below `parent` (an index into the tree; parents come first).

    All arrays have the length of `tokens`. Where `mask` is False a token only conditions: its
    weight and advantage must not matter and `logprobs` may hold anything, NaN included.
    `weight` already contains the reduction: the loss is the sum over tokens of weight x component.
    """

    tokens: IntArray
    parent: int | None
    mask: BoolArray
    logprobs: FloatArray
    weight: FloatArray
    advantage: FloatArray
    version: int = 0

    def __post_init__(self) -> None:
        arrays = (self.tokens, self.mask, self.logprobs, self.weight, self.advantage)
        lengths = set(map(len, arrays))
        if len(lengths) != 1 or not len(self.tokens):
            raise ValueError(f"a node's arrays must share one length above 0, not {lengths}")

    @cached_property
    def trained(self) -> int:
        """How many of its tokens are trained."""
        return int(np.count_nonzero(self.mask))


@dataclass(frozen=True)
class TokenTree:
    """Nodes in which every parent precedes its children; the first node is the only root."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        for index, node in enumerate(self.nodes):
            precedes = node.parent is None if index == 0 else node.parent in range(index)
            if not precedes:
                raise ValueError(f"node {index} has the parent {node.parent}")
        if self.nodes and self.nodes[0].mask[0]:
            raise ValueError("the first token of a tree has no context and cannot be trained")

    @property
    def trained_tokens(self) -> int:
        return sum(node.trained for node in self.nodes)


@dataclass(frozen=True)
class Episode:
    """One finished attempt at a task, scored. `reward` is None when it could not be scored,
    `correct` when it was not judged: it is neither right nor wrong then."""

    completion: Completion
    text: str
    reward: float | None
    correct: bool | None
    version: int


@dataclass(frozen=True)
class Group:
    """Episodes that share a prompt. `level` is how hard its problem is, in the task's own unit."""

    prompt: tuple[int, ...]
    text: str
    answer: str
    episodes: tuple[Episode, ...]
    level: int = 0


def context_node(tokens: Sequence[int], parent: int | None = None) -> Node:
    """A node that only conditions: a prompt, an observation."""
    n = len(tokens)
    zeros = np.zeros(n, np.float32)
    return Node(np.asarray(tokens, np.int64), parent, np.zeros(n, bool), zeros, zeros, zeros)


def action_node(
    tokens: Sequence[int],
    parent: int,
    *,
    logprobs: Sequence[float] | None = None,
    weight: float = 1.0,
    advantage: float | FloatArray = 1.0,
    version: int = 0,
) -> Node:
    """A node whose every token is trained. Without `logprobs` (SFT) they are zeros."""
    n = len(tokens)
    return Node(
        np.asarray(tokens, np.int64),
        parent,
        np.ones(n, bool),
        np.zeros(n, np.float32) if logprobs is None else np.asarray(logprobs, np.float32),
        np.full(n, weight, np.float32),
        np.broadcast_to(np.asarray(advantage, np.float32), (n,)),
        version,
    )


def reweighted(tree: TokenTree, weights: Sequence[FloatArray]) -> TokenTree:
    """The same tree with other per-token weights, one array a node."""
    pairs = zip(tree.nodes, weights, strict=True)
    return TokenTree(tuple(replace(node, weight=weight) for node, weight in pairs))
