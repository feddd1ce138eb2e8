"""A group's episodes as one token tree, with what they earned: what credit is assigned to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swarm.records import (
    FloatArray,
    Group,
    Node,
    RealArray,
    StopReason,
    TokenTree,
    action_node,
    context_node,
)


@dataclass(frozen=True)
class ScoredTree:
    """Episodes that share a baseline, in one tree of any depth.

    `owners[n]` is the episode whose tokens node n trains, None where it trains none. An episode may
    own nodes on several branches (a new branch starts where a template breaks the prefix); they
    stand in the order in which they were sampled. `rewards` and `truncated` are by episode; a
    reward is None where nothing could be scored, and then the episode's tokens must not be trained.
    """

    tree: TokenTree
    owners: tuple[int | None, ...]
    rewards: tuple[float | None, ...]
    truncated: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.owners) != len(self.tree.nodes) or len(self.rewards) != len(self.truncated):
            raise ValueError("owners are by node, rewards and truncated by episode")
        for node, owner in zip(self.tree.nodes, self.owners, strict=True):
            if node.trained and (owner is None or self.rewards[owner] is None):
                raise ValueError("a trained token needs an episode that was scored")

    @property
    def lengths(self) -> list[int]:
        """Trained tokens of each episode, over all its branches, each token once."""
        counts = [0] * len(self.rewards)
        for node, owner in zip(self.tree.nodes, self.owners, strict=True):
            if owner is not None:
                counts[owner] += node.trained
        return counts

    def split(self, flat: RealArray) -> list[RealArray]:
        """Per episode its part of `flat` [trained tokens of the tree], in the order sampled."""
        parts: list[list[RealArray]] = [[] for _ in self.rewards]
        start = 0
        for node, owner in zip(self.tree.nodes, self.owners, strict=True):
            if owner is not None and node.trained:
                parts[owner].append(flat[start : start + node.trained])
            start += node.trained
        return [np.concatenate(p) if p else flat[:0].copy() for p in parts]

    def join(self, parts: Sequence[RealArray]) -> FloatArray:
        """The inverse of `split`: [trained tokens of the tree], from one array an episode."""
        used = [0] * len(self.rewards)
        found: list[RealArray] = [np.zeros(0, np.float32)]
        for node, owner in zip(self.tree.nodes, self.owners, strict=True):
            if owner is not None and node.trained:
                found.append(parts[owner][used[owner] : used[owner] + node.trained])
                used[owner] += node.trained
        return np.concatenate(found).astype(np.float32)

    def credited(
        self, weights: Sequence[float], advantages: Sequence[float | FloatArray | None]
    ) -> TokenTree:
        """The tree with each episode's weight and advantage (one, or one a trained token) on its
        trained tokens."""
        lengths = self.lengths
        by_token = [
            np.broadcast_to(np.asarray(0.0 if a is None else a, np.float32), (n,))
            for a, n in zip(advantages, lengths, strict=True)
        ]
        advantage, used = self.join(by_token), 0
        nodes: list[Node] = []
        for node, owner in zip(self.tree.nodes, self.owners, strict=True):
            if owner is None or not node.trained:
                nodes.append(node)
                continue
            weight_T = np.zeros(len(node.tokens), np.float32)
            advantage_T = np.zeros(len(node.tokens), np.float32)
            weight_T[node.mask] = weights[owner]
            advantage_T[node.mask] = advantage[used : used + node.trained]
            used += node.trained
            nodes.append(replace(node, weight=weight_T, advantage=advantage_T))
        return TokenTree(tuple(nodes))

    def continued(self) -> TokenTree:
        """The tree with one more trained token below each truncated episode's last one, in episode
        order: its hidden state is the state that the episode was cut off in."""
        nodes = list(self.tree.nodes)
        for episode, cut in enumerate(self.truncated):
            own = [n for n, owner in enumerate(self.owners) if owner == episode]
            if cut and any(self.tree.nodes[n].trained for n in own):
                nodes.append(action_node([0], own[-1]))
        return TokenTree(tuple(nodes))


def scored_tree(group: Group) -> ScoredTree:
    """The prompt, then one action node a scored episode, weights and advantages 1; an episode that
    was not scored, or that says nothing, leaves no node."""
    nodes: list[Node] = [context_node(group.prompt)]
    owners: list[int | None] = [None]
    for number, episode in enumerate(group.episodes):
        if episode.reward is None or not episode.completion.tokens:
            continue
        owners.append(number)
        nodes.append(
            action_node(
                episode.completion.tokens,
                0,
                logprobs=episode.completion.logprobs,
                version=episode.version,
            )
        )
    return ScoredTree(
        TokenTree(tuple(nodes)),
        tuple(owners),
        tuple(e.reward for e in group.episodes),
        tuple(e.completion.stop == StopReason.LENGTH for e in group.episodes),
    )
