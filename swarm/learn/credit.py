"""From scored groups to weighted token trees: where an algorithm's settings act."""

import math
from collections.abc import Sequence

import numpy as np

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.advantages import (
    TOLERANCE,
    episode_advantages,
    overlong_penalties,
    penalised,
    token_returns_advantages,
    token_weights,
)
from swarm.learn.scored import ScoredTree
from swarm.records import FloatArray, Group, RealArray, TokenTree

#: Per group, per episode: one advantage, or one a trained token; None where nothing was scored.
Advantages = list[list[float | FloatArray | None]]


def keep_groups(groups: Sequence[Group], group_filter: str) -> list[Group]:
    """Those that train, by `data.group_filter`. `mixed_rewards` and `resample` drop groups of equal
    rewards (DAPO's dynamic sampling, arXiv:2503.14476; `swarm.dataflow.drawing` replaces them), and
    every filter drops a group in which nothing was scored."""
    kept = [g for g in groups if any(e.reward is not None for e in g.episodes)]
    if group_filter != "none":
        kept = [g for g in kept if reward_range(g) > TOLERANCE]
    return kept


def reward_range(group: Group) -> float:
    """Largest less smallest reward of a group; 0 if none was scored."""
    rewards = [e.reward for e in group.episodes if e.reward is not None]
    return max(rewards) - min(rewards) if rewards else 0.0


def credit(
    scored: Sequence[ScoredTree],
    found: Advantages,
    settings: AlgorithmSettings,
    max_tokens: int,
    minibatches: int,
) -> list[list[TokenTree]]:
    """The optimizer batches of one pass: the given advantages, and weights per update."""
    batches = []
    for part in cut(len(scored), minibatches):
        lengths = [scored[i].lengths for i in part]
        weights = token_weights(lengths, settings.aggregation, max_tokens)
        batches.append(
            [scored[i].credited(w, found[i]) for i, w in zip(part, weights, strict=True)]
        )
    return batches


def cut(count: int, minibatches: int) -> list[list[int]]:
    """0 .. count - 1 in order, in `minibatches` near-equal parts (fewer if there are fewer)."""
    parts = np.array_split(np.arange(count), min(minibatches, max(1, count)))
    return [part.tolist() for part in parts]


def advantages(
    scored: Sequence[ScoredTree],
    settings: AlgorithmSettings,
    max_tokens: int,
    k1: Sequence[RealArray] | None = None,
) -> Advantages:
    """Advantages over the whole batch, for every baseline but `value`.

    `k1` holds, per tree, log(pi/ref) of its trained tokens in tree order; it is needed when the KL
    is placed in the reward. Returns of episodes are the rewards less the summed penalties, those of
    tokens run to go (a penalty on each token, the reward on the last), neither reset nor
    discounted.
    """
    rewards = shaped_rewards(scored, settings, max_tokens)
    if settings.returns == "token":
        per_token = token_rewards(scored, rewards, k1, settings.kl_coef)
        returns = [[None if r is None else _to_go(r) for r in group] for group in per_token]
        return whitened(returns, settings)
    if k1 is not None:
        sums = [[math.fsum(k) for k in s.split(flat)] for s, flat in zip(scored, k1, strict=True)]
        rewards = [penalised(r, s, settings.kl_coef) for r, s in zip(rewards, sums, strict=True)]
    return [list(a) for a in episode_advantages(rewards, settings)]


def shaped_rewards(
    scored: Sequence[ScoredTree], settings: AlgorithmSettings, max_tokens: int
) -> list[list[float | None]]:
    """The episodes' rewards less their overlong penalties (`advantages.overlong_penalties`)."""
    if not settings.overlong_buffer:
        return [list(s.rewards) for s in scored]
    buffer, factor = settings.overlong_buffer * max_tokens, settings.overlong_factor
    return [
        penalised(s.rewards, overlong_penalties(s.lengths, max_tokens, buffer), factor)
        for s in scored
    ]


def token_rewards(
    scored: Sequence[ScoredTree],
    rewards: Sequence[Sequence[float | None]],
    k1: Sequence[RealArray] | None,
    kl_coef: float,
) -> list[list[RealArray | None]]:
    """Per episode [T], fp64: -kl_coef x k1 on each trained token, the episode's reward on its last.
    An episode without a trained token has nothing to put it on. In fp32 a large reward would drown
    the penalties, whose sums are whitened."""
    found: list[list[RealArray | None]] = []
    for index, (tree, group) in enumerate(zip(scored, rewards, strict=True)):
        flat = np.zeros(tree.tree.trained_tokens) if k1 is None else k1[index].astype(np.float64)
        parts = tree.split(flat)
        found.append([_with_last(r, -kl_coef * k) for r, k in zip(group, parts, strict=True)])
    return found


def whitened(
    per_token: Sequence[Sequence[RealArray | None]], settings: AlgorithmSettings
) -> Advantages:
    """Per-token returns or advantages, whitened over the batch as the settings say."""
    flat = [values for group in per_token for values in group]
    done = iter(token_returns_advantages(flat, settings))
    return [[next(done) for _ in group] for group in per_token]


def _with_last(reward: float | None, per_token: RealArray) -> RealArray | None:
    if reward is None:
        return None
    if len(per_token):
        per_token[-1] += reward
    return per_token


def _to_go(rewards: RealArray) -> RealArray:
    return np.cumsum(rewards[::-1])[::-1]
