"""What a batch reports, under the project's metric names. Means are sums over counts, so no
figure depends on how a batch was split."""

from collections.abc import Sequence

import numpy as np

from swarm.learn.advantages import TOLERANCE
from swarm.learn.credit import reward_range
from swarm.learn.learner import UpdateMetrics
from swarm.records import Episode, FloatArray, Group, StopReason


def of_rollouts(groups: Sequence[Group]) -> dict[str, float]:
    """Rewards, lengths and token counts of a batch of rollouts."""
    episodes = [e for g in groups for e in g.episodes]
    rewards = [e.reward for e in episodes if e.reward is not None]
    values = lengths_of(episodes)
    values |= {
        "reward/mean": mean(rewards),
        "reward/std": float(np.std(rewards)) if rewards else float("nan"),
        "reward/zero_std_frac": mean([reward_range(g) <= TOLERANCE for g in groups]),
        "tokens/prompt": float(sum(len(g.prompt) for g in groups)),
        "tokens/completion": float(sum(len(e.completion.tokens) for e in episodes)),
    }
    return values


def lengths_of(episodes: Sequence[Episode]) -> dict[str, float]:
    """Completion lengths in tokens, of all, the correct and the wrong; NaN where there is none."""
    lengths = [len(e.completion.tokens) for e in episodes]
    return {
        "completions/mean_length": mean(lengths),
        "completions/mean_length_correct": mean(
            [n for n, e in zip(lengths, episodes, strict=True) if e.correct]
        ),
        "completions/mean_length_wrong": mean(
            [n for n, e in zip(lengths, episodes, strict=True) if not e.correct]
        ),
        "completions/truncated_frac": mean(
            [e.completion.stop == StopReason.LENGTH for e in episodes]
        ),
    }


def of_evaluation(groups: Sequence[Group]) -> dict[str, float]:
    """Held-out accuracy, the training reward on the same answers, and their lengths."""
    episodes = [e for g in groups for e in g.episodes]
    lengths = lengths_of(episodes)
    return {
        "eval/acc": mean([e.correct for e in episodes]),
        "eval/proxy": mean([e.reward for e in episodes if e.reward is not None]),
        "eval/length": lengths["completions/mean_length"],
        "eval/length_wrong": lengths["completions/mean_length_wrong"],
    }


def of_updates(updates: Sequence[UpdateMetrics]) -> dict[str, float]:
    """Loss, ratio and gradient figures of a batch's updates; empty when there was none."""
    tokens = sum(u.tokens for u in updates)
    if not tokens:
        return {"tokens/trained": 0.0}
    low, high = sum(u.clipped_low for u in updates), sum(u.clipped_high for u in updates)
    return {
        "loss/policy": sum(u.policy_loss for u in updates) / len(updates),
        "loss/kl": sum(u.kl_sum for u in updates) / len(updates),
        "policy/entropy": sum(u.entropy_sum for u in updates) / tokens,
        "policy/clip_frac": (low + high) / tokens,
        "policy/clip_frac_low": low / tokens,
        "policy/clip_frac_high": high / tokens,
        "policy/ratio_max": max(u.max_ratio for u in updates),
        "mismatch/kl": updates[0].mismatch_sum / updates[0].tokens,
        "optim/grad_norm": sum(u.grad_norm for u in updates) / len(updates),
        "optim/lr": updates[-1].lr,
        "tokens/trained": float(tokens),
    }


def token_count(groups: Sequence[Group]) -> int:
    """Logical tokens of a batch: each prompt once, each completion once, no padding."""
    return sum(len(g.prompt) + sum(len(e.completion.tokens) for e in g.episodes) for g in groups)


def mean(values: Sequence[float] | FloatArray) -> float:
    """The arithmetic mean; NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")
