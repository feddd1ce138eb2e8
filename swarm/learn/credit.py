"""From scored groups to weighted token trees: where an algorithm's settings act."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swarm.config import AlgorithmSettings
from swarm.learn.advantages import (
    TOLERANCE,
    episode_advantages,
    penalised,
    token_returns_advantages,
    token_weights,
)
from swarm.records import FloatArray, Group, TokenTree, action_node, context_node


@dataclass(frozen=True)
class KeptGroups:
    """The groups that train, and how many were dropped."""

    groups: list[Group]
    dropped: int


def keep_groups(groups: Sequence[Group], group_filter: str) -> KeptGroups:
    """Apply `data.group_filter`. `mixed_rewards` drops groups that carry no signal (as DAPO's
    dynamic sampling does, arXiv:2503.14476, without drawing replacements). A group in which
    nothing could be scored has nothing to train and is dropped by every filter."""
    kept = [g for g in groups if any(e.reward is not None for e in g.episodes)]
    if group_filter == "mixed_rewards":
        kept = [g for g in kept if reward_range(g) > TOLERANCE]
    return KeptGroups(kept, len(groups) - len(kept))


def reward_range(group: Group) -> float:
    """Largest less smallest reward of a group; 0 if none was scored."""
    rewards = [e.reward for e in group.episodes if e.reward is not None]
    return max(rewards) - min(rewards) if rewards else 0.0


def plain_trees(groups: Sequence[Group]) -> list[TokenTree]:
    """One tree a group, all scored completions trained, weights and advantages 1."""
    return [
        _tree(
            g,
            [1.0] * len(g.episodes),
            [None if e.reward is None else 1.0 for e in g.episodes],
        )
        for g in groups
    ]


def credited_trees(
    groups: Sequence[Group],
    settings: AlgorithmSettings,
    max_tokens: int,
    minibatches: int,
    k1: Sequence[FloatArray] | None = None,
) -> list[list[TokenTree]]:
    """The optimizer batches of one pass: advantages over the whole batch, weights per update.

    `k1` holds, per group, log(pi/ref) of its trained tokens in tree order. It is needed when the
    KL is placed in the reward: then a group or leave-one-out baseline sees each episode's reward
    less its summed penalty, and other baselines see per-token returns to go (the penalty on each
    token, the reward on the last), neither reset nor discounted.
    """
    rewards = [[e.reward for e in g.episodes] for g in groups]
    advantages: list[list[float | FloatArray | None]]
    if settings.kl_placement == "reward" and settings.kl_coef and k1 is not None:
        penalties = [_split(g, k) for g, k in zip(groups, k1, strict=True)]
        if settings.baseline in ("group", "leave_one_out"):
            sums = [[float(k.sum()) for k in ks] for ks in penalties]
            rewards = [
                penalised(r, s, settings.kl_coef) for r, s in zip(rewards, sums, strict=True)
            ]
            advantages = [list(a) for a in episode_advantages(rewards, settings)]
        else:
            advantages = _token_advantages(rewards, penalties, settings)
    else:
        advantages = [list(a) for a in episode_advantages(rewards, settings)]
    batches = []
    for part in np.array_split(np.arange(len(groups)), min(minibatches, max(1, len(groups)))):
        lengths = [
            [0 if e.reward is None else len(e.completion.tokens) for e in groups[int(i)].episodes]
            for i in part
        ]
        weights = token_weights(lengths, settings.aggregation, max_tokens)
        batches.append(
            [
                _tree(groups[int(i)], w, advantages[int(i)])
                for i, w in zip(part, weights, strict=True)
            ]
        )
    return batches


def _token_advantages(
    rewards: list[list[float | None]],
    penalties: list[list[FloatArray]],
    settings: AlgorithmSettings,
) -> list[list[float | FloatArray | None]]:
    flat: list[FloatArray | None] = []
    for group, ks in zip(rewards, penalties, strict=True):
        for reward, k in zip(group, ks, strict=True):
            if reward is None:
                flat.append(None)
                continue
            per_token = -settings.kl_coef * k
            per_token[-1] += reward
            flat.append(np.cumsum(per_token[::-1])[::-1].astype(np.float32))
    whitened = iter(token_returns_advantages(flat, settings))
    return [[next(whitened) for _ in group] for group in rewards]


def _split(group: Group, values: FloatArray) -> list[FloatArray]:
    """Per episode, its part of a flat per-token array; unscored episodes get an empty part."""
    parts, start = [], 0
    for episode in group.episodes:
        n = 0 if episode.reward is None else len(episode.completion.tokens)
        parts.append(values[start : start + n].copy())
        start += n
    return parts


def _tree(
    group: Group, weights: Sequence[float], advantages: Sequence[float | FloatArray | None]
) -> TokenTree:
    """The prompt, then one action node a scored episode; unscored episodes leave no node."""
    nodes = [context_node(group.prompt)]
    for episode, weight, advantage in zip(group.episodes, weights, advantages, strict=True):
        if advantage is None:
            continue
        nodes.append(
            action_node(
                episode.completion.tokens,
                0,
                logprobs=episode.completion.logprobs,
                weight=weight,
                advantage=advantage,
                version=episode.version,
            )
        )
    return TokenTree(tuple(nodes))
