"""The presets' losses as their papers write them: one episode and one token at a time.

Nothing here reads a config. `Told` is what a formula may use of an episode, `Paper` the numbers
that its paper gives; the loss of an update is a scalar that autograd can differentiate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Told:
    """An episode: [T] log-probabilities of the policy (with gradient), the sampler, the reference
    and the policy at the batch's start, its entropies (with gradient), its reward, the values of
    its states at the batch's start."""

    pi: Tensor
    mu: Tensor
    ref: Tensor
    old: Tensor
    entropy: Tensor
    reward: float
    values: Sequence[float]

    @property
    def length(self) -> int:
        return len(self.mu)


Groups = Sequence[Sequence[Told]]
Rows = list[list[list[float]]]  # by group, episode, token


@dataclass(frozen=True)
class Paper:
    """`beta` weighs k1 in the reward, `backward` the reverse and `forward` the forward KL in the
    loss. Bounds are of the ratio itself; `gone` those of a probability's rise and fall."""

    advantages: "Callable[[Paper, Groups, int], Rows]"
    mean: str
    objective: str = "clip"
    bounds: tuple[float, float] | None = (0.8, 1.2)
    beta: float = 0.0
    backward: float = 0.0
    forward: float = 0.0
    entropy: float = 0.0
    squared: float = 0.0
    gone: tuple[float, float] | None = None
    buffer: float = 0.0
    factor: float = 1.0
    gamma: float = 1.0
    lam: float = 1.0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def is_flat(values: Sequence[float]) -> bool:
    return max(values) - min(values) < 1e-6


def std(values: Sequence[float]) -> float:
    centre = mean(values)
    return (sum((v - centre) ** 2 for v in values) / (len(values) - 1)) ** 0.5 + 1e-4


def flat(groups: Groups) -> list[Told]:
    return [episode for group in groups for episode in group]


def tokens(groups: Groups) -> int:
    return sum(episode.length for episode in flat(groups))


def paid(paper: Paper, episode: Told, budget: int) -> float:
    """The reward less the overlong penalty."""
    buffer = paper.buffer * budget
    over = episode.length - (budget - buffer)
    return episode.reward - paper.factor * (over / buffer if buffer and over > 0 else 0.0)


def k1(episode: Told) -> list[float]:
    return [float(m - r) for m, r in zip(episode.mu, episode.ref, strict=True)]


def by_group(of: Callable[[list[float]], list[float]]) -> Callable[[Paper, Groups, int], Rows]:
    """One advantage an episode, from the rewards of its group less their summed KL."""

    def rows(paper: Paper, groups: Groups, budget: int) -> Rows:
        found = []
        for group in groups:
            rewards = [paid(paper, e, budget) - paper.beta * sum(k1(e)) for e in group]
            advantages = of(rewards)
            found.append([[a] * e.length for a, e in zip(advantages, group, strict=True)])
        return found

    return rows


def centred(rewards: list[float]) -> list[float]:
    return [0.0 if is_flat(rewards) else r - mean(rewards) for r in rewards]


def standardised(rewards: list[float]) -> list[float]:
    return [0.0 if is_flat(rewards) else a / std(rewards) for a in centred(rewards)]


def leave_one_out(rewards: list[float]) -> list[float]:
    return [r - mean(rewards[:i] + rewards[i + 1 :]) for i, r in enumerate(rewards)]


def over_the_mean(rewards: list[float]) -> list[float]:
    return [(r - mean(rewards)) / mean(rewards) if mean(rewards) > 0 else 0.0 for r in rewards]


def token_rewards(paper: Paper, episode: Told, budget: int) -> list[float]:
    found = [-paper.beta * k for k in k1(episode)]
    if found:
        found[-1] += paid(paper, episode, budget)
    return found


def whitened(rows: Rows) -> Rows:
    every = [value for group in rows for row in group for value in row]
    if is_flat(every):
        return [[[0.0] * len(row) for row in group] for group in rows]
    return [[[(v - mean(every)) / std(every) for v in row] for row in group] for group in rows]


def returns(paper: Paper, groups: Groups, budget: int) -> Rows:
    """To go, whitened over all tokens of the batch."""

    def to_go(episode: Told) -> list[float]:
        rewards = token_rewards(paper, episode, budget)
        return [sum(rewards[t:]) for t in range(episode.length)]

    return whitened([[to_go(e) for e in group] for group in groups])


def gae(paper: Paper, episode: Told, budget: int) -> list[float]:
    """The definition: a discounted sum of all later one-step errors."""
    rewards, values = token_rewards(paper, episode, budget), [*episode.values, 0.0]
    errors = [rewards[t] + paper.gamma * values[t + 1] - values[t] for t in range(episode.length)]
    return [
        sum((paper.gamma * paper.lam) ** (s - t) * errors[s] for s in range(t, episode.length))
        for t in range(episode.length)
    ]


def critic(paper: Paper, groups: Groups, budget: int) -> Rows:
    return whitened([[gae(paper, e, budget) for e in group] for group in groups])


def ones(paper: Paper, groups: Groups, budget: int) -> Rows:
    return [[[1.0] * e.length for e in group] for group in groups]


def ratio(episode: Told, t: int) -> Tensor:
    return (episode.pi[t] - episode.mu[t]).exp()


def k3(episode: Told, t: int) -> Tensor:
    gap = episode.ref[t] - episode.pi[t]
    return gap.exp() - gap - 1


def surrogate(paper: Paper, episode: Told, t: int, advantage: float) -> Tensor:
    """What is maximised of one token."""
    if paper.objective == "likelihood":
        return episode.pi[t] * advantage
    rho = ratio(episode, t)
    if paper.objective == "sequence":
        rho = ((episode.pi - episode.old).sum() / episode.length).exp()
    if paper.gone is not None:
        moved = (episode.pi[t].exp() - episode.mu[t].exp()).item()
        fall, rise = paper.gone
        if moved > rise if advantage > 0 else moved < -fall:
            rho = torch.zeros(())
    if paper.objective == "truncated":
        assert paper.bounds is not None
        low, high = paper.bounds
        return min(max(rho.item(), low), high) * advantage * episode.pi[t]
    if paper.bounds is None:
        return rho * advantage
    return min(rho * advantage, rho.clamp(*paper.bounds) * advantage)


def policy(paper: Paper, groups: Groups, budget: int, part: slice = slice(None)) -> Tensor:
    """The loss of the update on the groups of `part`; advantages are over all `groups`."""
    rows, groups = paper.advantages(paper, groups, budget)[part], groups[part]
    episodes = len([e for e in flat(groups) if e.length])
    total = torch.zeros(())
    for group, of_group in zip(groups, rows, strict=True):
        for episode, advantages in zip(group, of_group, strict=True):
            for t in range(episode.length):
                term = -surrogate(paper, episode, t, advantages[t])
                term = term + paper.forward * k3(episode, t)
                term = term + paper.backward * ratio(episode, t) * k3(episode, t)
                term = term - paper.entropy * episode.entropy[t]
                anchor = episode.old if paper.objective == "sequence" else episode.mu
                term = term + paper.squared * (episode.pi[t] - anchor[t]) ** 2
                by = {
                    "tokens": tokens(groups),
                    "sequences": episodes * episode.length,
                    "budget": episodes * budget,
                }
                total = total + term / by[paper.mean]
    return total


def pairs(paper: Paper, groups: Groups, budget: int, part: slice = slice(None)) -> Tensor:
    """DPO's."""
    losses = []
    for group in groups[part]:
        rewards = [e.reward for e in group]
        if is_flat(rewards):
            continue
        chosen = group[rewards.index(max(rewards))]
        rejected = group[rewards.index(min(rewards))]
        if not chosen.length + rejected.length:
            continue
        margin = (chosen.pi - chosen.ref).sum() - (rejected.pi - rejected.ref).sum()
        losses.append(-torch.log(1 / (1 + torch.exp(-0.1 * margin))))
    return torch.stack(losses).mean()


PAPERS: dict[str, Paper] = {
    "default": Paper(by_group(centred), "tokens"),
    "grpo": Paper(by_group(standardised), "sequences", forward=0.04),
    "dr_grpo": Paper(by_group(centred), "budget"),
    "dapo": Paper(by_group(standardised), "tokens", bounds=(0.8, 1.28), buffer=0.2),
    "gspo": Paper(by_group(standardised), "sequences", "sequence", bounds=(1 - 3e-4, 1 + 4e-4)),
    "cispo": Paper(by_group(standardised), "tokens", "truncated", bounds=(0.0, 5.0)),
    "dppo": Paper(by_group(centred), "tokens", bounds=None, gone=(0.2, 0.2), squared=1e-3),
    "rloo": Paper(by_group(leave_one_out), "budget", bounds=None, beta=0.05),
    "reinforce_pp": Paper(returns, "tokens", beta=0.01),
    "ppo": Paper(critic, "tokens", beta=0.05, lam=0.95),
    "maxrl": Paper(by_group(over_the_mean), "budget"),
    "sft": Paper(ones, "tokens", "likelihood"),
    "dpo": Paper(ones, "pairs"),
}


def loss(
    name: str, groups: Groups, budget: int, part: slice = slice(None), **numbers: object
) -> Tensor:
    """A preset's, with other numbers than its paper's where some are given."""
    paper = replace(PAPERS[name], **numbers)  # type: ignore[arg-type]
    return (pairs if name == "dpo" else policy)(paper, groups, budget, part)
