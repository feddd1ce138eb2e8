"""What a value head estimates and learns: generalised advantages, returns, the clipped loss."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from swarm.learn.loss import Loss
from swarm.records import RealArray


@dataclass(frozen=True)
class Estimates:
    """Of one episode's trained tokens in order of time, [T] each, fp64: the advantages, and the
    returns that V is trained towards."""

    advantages: RealArray
    returns: RealArray


def generalised_advantages(
    rewards: RealArray, values: RealArray, after: float, gamma: float, lam: float
) -> Estimates:
    """GAE (Schulman et al. 2016, arXiv:1506.02438): d_t = r_t + gamma V(t+1) - V(t),
    A_t = d_t + gamma lam A_(t+1), R_t = A_t + V(t).

    `rewards` and `values` are [T] over an episode's *trained* tokens: what an environment said in
    between is skipped. `after` is V past the last token, 0 where the episode ended.
    """
    advantages = np.zeros(len(values), np.float64)
    following, running = after, 0.0
    for t in range(len(values) - 1, -1, -1):
        delta = float(rewards[t]) + gamma * following - float(values[t])
        running = delta + gamma * lam * running
        advantages[t], following = running, float(values[t])
    returns = advantages + values
    return Estimates(advantages, returns)


def value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, clip: float | None, tokens: int
) -> Loss:
    """Squared error of a value head, summed over tokens and divided by `tokens`, the trained tokens
    of the whole optimizer batch. All tensors are [M].

    1/2 max((V - R)^2, (clip(V, V_old - clip, V_old + clip) - R)^2), as PPO's code has it (Engstrom
    et al. 2020, arXiv:2005.12729, section 3); without `clip`, 1/2 (V - R)^2.
    """
    error = (values - returns).square()
    held = error
    if clip is not None:
        near = old_values + (values - old_values).clamp(-clip, clip)
        held = (near - returns).square()
    total = 0.5 * torch.maximum(error, held).sum() / tokens
    return Loss(total, {"value": total.detach()})
