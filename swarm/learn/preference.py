"""DPO: which episodes are a pair, and the loss of a pair."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from swarm.learn.advantages import TOLERANCE
from swarm.learn.credit import cut, reward_range
from swarm.learn.loss import Loss
from swarm.learn.scored import scored_tree
from swarm.records import Group, TokenTree


def pair_of(group: Group) -> Group | None:
    """The group's best and worst scored episode, in that order (the first of equals), or None when
    its rewards are all equal."""
    if reward_range(group) <= TOLERANCE:
        return None
    scored = [e for e in group.episodes if e.reward is not None]
    best = max(scored, key=lambda e: e.reward or 0.0)
    worst = min(scored, key=lambda e: e.reward or 0.0)
    return replace(group, episodes=(best, worst))


def pair_batches(groups: Sequence[Group], minibatches: int) -> list[list[TokenTree]]:
    """The optimizer batches of one pass: one tree a pair, advantage +1 on the chosen and -1 on the
    rejected answer, weight 1 / (pairs of the update). Groups without a pair are left out, and so
    are pairs of two answers without a token."""
    trees = [scored_tree(pair) for pair in map(pair_of, groups) if pair is not None]
    pairs = [tree for tree in trees if tree.tree.trained_tokens]
    parts = filter(None, cut(len(pairs), minibatches))
    return [[pairs[i].credited([1 / len(part)] * 2, [1.0, -1.0]) for i in part] for part in parts]


def preference_loss(
    logprobs: Tensor,
    entropy: Tensor,
    reference_logprobs: Tensor,
    signs: Tensor,
    weights: Tensor,
    pairs: Tensor,
    beta: float,
) -> Loss:
    """-log sigmoid(margin) of each pair (Rafailov et al. 2023, arXiv:2305.18290, eq. 7), weighted.

    Per token, [M]: `signs` is +1 in the chosen and -1 in the rejected answer, `pairs` the id of its
    pair from 0, `weights` its pair's weight; `entropy` is reported and nothing else. A pair's
    margin is beta x the signed sum of log(pi/ref) over both answers, taken in fp64.
    """
    count = int(pairs.max()) + 1
    signed = (logprobs.double() - reference_logprobs.double()) * signs.double()
    margins = beta * signed.new_zeros(count).index_add(0, pairs, signed)
    by_pair = signed.new_zeros(count).index_copy(0, pairs, weights.double())
    total = -(by_pair * torch.nn.functional.logsigmoid(margins)).sum().float()
    found = margins.detach()
    sums = {"policy": total.detach(), "entropy": entropy.detach().sum()}
    pairwise = {"pairs": torch.tensor(count), "margin": found.sum(), "wins": (found > 0).sum()}
    return Loss(total, sums | pairwise)
