"""The presets' losses as their papers write them: one episode and one token at a time.

Nothing here reads a config. `Told` is what a formula may use of an episode; the loss of an update
is a scalar that autograd can differentiate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from swarm.learn.advantages import STD_EPSILON


@dataclass(frozen=True)
class Told:
    """An episode: [T] log-probabilities of the policy (with gradient), the sampler and the
    reference, its reward, and the values of its states."""

    pi: Tensor
    mu: Tensor
    ref: Tensor
    reward: float
    values: Sequence[float]

    @property
    def length(self) -> int:
        return len(self.mu)


Groups = Sequence[Sequence[Told]]
Loss = Callable[[Groups, int], Tensor]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def std(values: Sequence[float]) -> float:
    centre = mean(values)
    return (sum((v - centre) ** 2 for v in values) / (len(values) - 1)) ** 0.5 + STD_EPSILON


def is_flat(values: Sequence[float]) -> bool:
    return max(values) - min(values) < 1e-6


def clipped(ratio: Tensor, advantage: float, low: float, high: float) -> Tensor:
    return min(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)


def flat(groups: Groups) -> list[Told]:
    return [episode for group in groups for episode in group]


def k3(episode: Told, t: int) -> Tensor:
    gap = episode.ref[t] - episode.pi[t]
    return gap.exp() - gap - 1


def ratio(episode: Told, t: int) -> Tensor:
    return (episode.pi[t] - episode.mu[t]).exp()


def tokens(groups: Groups) -> int:
    return sum(episode.length for episode in flat(groups))


def centred(group: Sequence[Told], rewards: Sequence[float] | None = None) -> list[float]:
    rewards = rewards or [e.reward for e in group]
    return [0.0 if is_flat(rewards) else r - mean(rewards) for r in rewards]


def standardised(group: Sequence[Told], rewards: Sequence[float] | None = None) -> list[float]:
    rewards = rewards or [e.reward for e in group]
    return [a / (1 if is_flat(rewards) else std(rewards)) for a in centred(group, rewards)]


def default(groups: Groups, budget: int, low: float = 0.2, high: float = 0.2) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for episode, advantage in zip(group, centred(group), strict=True):
            for t in range(episode.length):
                total = total - clipped(ratio(episode, t), advantage, low, high)
    return total / tokens(groups)


def grpo(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for episode, advantage in zip(group, standardised(group), strict=True):
            for t in range(episode.length):
                term = clipped(ratio(episode, t), advantage, 0.2, 0.2) - 0.04 * k3(episode, t)
                total = total - term / episode.length
    return total / len(flat(groups))


def dr_grpo(groups: Groups, budget: int) -> Tensor:
    return default(groups, budget) * tokens(groups) / (len(flat(groups)) * budget)


def dapo(groups: Groups, budget: int) -> Tensor:
    buffer = 0.2 * budget
    total = torch.zeros(())
    for group in groups:
        shaped = []
        for episode in group:
            over = episode.length - (budget - buffer)
            shaped.append(episode.reward - (over / buffer if over > 0 else 0.0))
        for episode, advantage in zip(group, standardised(group, shaped), strict=True):
            for t in range(episode.length):
                total = total - clipped(ratio(episode, t), advantage, 0.2, 0.28)
    return total / tokens(groups)


def gspo(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for episode, advantage in zip(group, standardised(group), strict=True):
            s = ((episode.pi - episode.mu).sum() / episode.length).exp()
            total = total - clipped(s, advantage, 3e-4, 4e-4)
    return total / len(flat(groups))


def cispo(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for episode, advantage in zip(group, standardised(group), strict=True):
            for t in range(episode.length):
                weight = min(max(ratio(episode, t).item(), 0.0), 5.0)
                total = total - weight * advantage * episode.pi[t]
    return total / tokens(groups)


def dppo(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for episode, advantage in zip(group, centred(group), strict=True):
            for t in range(episode.length):
                moved = (episode.pi[t].exp() - episode.mu[t].exp()).item()
                gone = moved > 0.2 if advantage > 0 else moved < -0.2
                if not gone:
                    total = total - ratio(episode, t) * advantage
                total = total + 1e-3 * (episode.pi[t] - episode.mu[t]) ** 2
    return total / tokens(groups)


def rloo(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        paid = [e.reward - 0.05 * float((e.mu - e.ref).sum()) for e in group]
        for i, episode in enumerate(group):
            advantage = paid[i] - mean(paid[:i] + paid[i + 1 :])
            for t in range(episode.length):
                total = total - ratio(episode, t) * advantage
    return total / (len(flat(groups)) * budget)


def token_rewards(episode: Told, beta: float) -> list[float]:
    paid = [-beta * float(episode.mu[t] - episode.ref[t]) for t in range(episode.length)]
    paid[-1] += episode.reward
    return paid


def whitened(rows: list[list[float]]) -> list[list[float]]:
    everything = [value for row in rows for value in row]
    return [[(v - mean(everything)) / std(everything) for v in row] for row in rows]


def by_token(groups: Groups, advantages: list[list[float]]) -> Tensor:
    total = torch.zeros(())
    for episode, row in zip(flat(groups), advantages, strict=True):
        for t in range(episode.length):
            total = total - clipped(ratio(episode, t), row[t], 0.2, 0.2)
    return total / tokens(groups)


def reinforce_pp(groups: Groups, budget: int) -> Tensor:
    returns = []
    for episode in flat(groups):
        paid = token_rewards(episode, 0.01)
        returns.append([sum(paid[t:]) for t in range(episode.length)])
    return by_token(groups, whitened(returns))


def gae(episode: Told, beta: float = 0.05, gamma: float = 1.0, lam: float = 0.95) -> list[float]:
    """The definition: a discounted sum of all later one-step errors."""
    paid, values = token_rewards(episode, beta), [*episode.values, 0.0]
    errors = [paid[t] + gamma * values[t + 1] - values[t] for t in range(episode.length)]
    return [
        sum((gamma * lam) ** (later - t) * errors[later] for later in range(t, episode.length))
        for t in range(episode.length)
    ]


def ppo(groups: Groups, budget: int) -> Tensor:
    return by_token(groups, whitened([gae(episode) for episode in flat(groups)]))


def maxrl(groups: Groups, budget: int) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        centre = mean([e.reward for e in group])
        for episode in group:
            advantage = (episode.reward - centre) / centre if centre > 0 else 0.0
            for t in range(episode.length):
                total = total - clipped(ratio(episode, t), advantage, 0.2, 0.2)
    return total / (len(flat(groups)) * budget)


def dpo(groups: Groups, budget: int) -> Tensor:
    losses = []
    for group in groups:
        rewards = [e.reward for e in group]
        if is_flat(rewards):
            continue
        chosen = group[rewards.index(max(rewards))]
        rejected = group[rewards.index(min(rewards))]
        margin = (chosen.pi - chosen.ref).sum() - (rejected.pi - rejected.ref).sum()
        losses.append(-torch.log(1 / (1 + torch.exp(-0.1 * margin))))
    return torch.stack(losses).mean()


def sft(groups: Groups, budget: int) -> Tensor:
    return -torch.stack([episode.pi.sum() for episode in flat(groups)]).sum() / tokens(groups)


LOSSES: dict[str, Loss] = {
    "default": default,
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "dapo": dapo,
    "gspo": gspo,
    "cispo": cispo,
    "dppo": dppo,
    "rloo": rloo,
    "reinforce_pp": reinforce_pp,
    "ppo": ppo,
    "maxrl": maxrl,
    "sft": sft,
    "dpo": dpo,
}
