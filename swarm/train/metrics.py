"""What a batch reports, under the project's metric names. Means are sums over counts, so no
figure depends on how a batch was split."""

from collections.abc import Sequence

import numpy as np

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import DataSettings
from swarm.dataflow.drawing import Drawn
from swarm.learn.advantages import TOLERANCE
from swarm.learn.credit import reward_range
from swarm.learn.learner import UpdateMetrics
from swarm.records import Episode, FloatArray, Group, StopReason


def of_batch(drawn: Drawn, data: DataSettings) -> dict[str, float]:
    """Rollout figures of everything that was sampled, and what became of its groups."""
    values = of_rollouts(drawn.groups)
    values["data/groups_dropped"] = float(drawn.dropped)
    if data.group_filter == "resample":
        values["data/groups_resampled"] = float(drawn.resampled)
        values["data/groups_missing"] = float(drawn.missing)
    return values


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
        "completions/overlong_frac": mean(
            [e.completion.stop == StopReason.OVERLONG for e in episodes]
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


def of_updates(
    updates: Sequence[UpdateMetrics], algorithm: AlgorithmSettings | None = None
) -> dict[str, float]:
    """Loss, ratio and gradient figures of a batch's updates; empty when there was none.

    An `algorithm` that takes no ratio to a sampler reports none, one with pairs their margins.
    """
    algorithm = algorithm or AlgorithmSettings()
    tokens = sum(u.tokens for u in updates)
    if not tokens:
        return {"tokens/trained": 0.0}
    values = {
        "loss/policy": sum(u.policy_loss for u in updates) / len(updates),
        "policy/entropy": sum(u.entropy_sum for u in updates) / tokens,
        "optim/grad_norm": sum(u.grad_norm for u in updates) / len(updates),
        "optim/lr": updates[-1].lr,
        "tokens/trained": float(tokens),
    }
    if algorithm.objective == "preference":
        pairs = sum(u.pairs for u in updates)
        values["dpo/margin"] = sum(u.margin_sum for u in updates) / pairs
        values["dpo/acc"] = sum(u.wins for u in updates) / pairs
    elif algorithm.samples:
        values |= _ratios(updates, tokens)
    if algorithm.baseline == "value":
        values["loss/value"] = sum(u.value_loss for u in updates) / len(updates)
    return values


def _ratios(updates: Sequence[UpdateMetrics], tokens: int) -> dict[str, float]:
    """Clipping over all updates; the gap to the sampler as the first update finds it."""
    low, high = sum(u.clipped_low for u in updates), sum(u.clipped_high for u in updates)
    first = updates[0]
    squares = first.tokens * first.behaviour_squares
    return {
        "loss/kl": sum(u.kl_sum for u in updates) / len(updates),
        "policy/clip_frac": (low + high) / tokens,
        "policy/clip_frac_low": low / tokens,
        "policy/clip_frac_high": high / tokens,
        "policy/ratio_max": max(u.max_ratio for u in updates),
        "mismatch/kl": first.mismatch_sum / first.tokens,
        "mismatch/logprob_abs_diff_mean": first.gap_sum / first.tokens,
        "mismatch/logprob_abs_diff_max": first.max_gap,
        "mismatch/ess": first.behaviour_sum**2 / squares if squares else float("nan"),
        "mismatch/masked_frac": sum(u.masked for u in updates) / tokens,
    }


def token_count(groups: Sequence[Group]) -> int:
    """Logical tokens of a batch: each prompt once, each completion once, no padding."""
    return sum(len(g.prompt) + sum(len(e.completion.tokens) for e in g.episodes) for g in groups)


def mean(values: Sequence[float] | FloatArray) -> float:
    """The arithmetic mean; NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")
