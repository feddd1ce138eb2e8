"""What a batch reports, under the project's metric names. Means are sums over counts, so no
figure depends on how a batch was split."""

import math
from collections.abc import Sequence

import numpy as np

from swarm.config.parts import DataSettings
from swarm.dataflow.drawing import Drawn
from swarm.learn.advantages import TOLERANCE
from swarm.learn.credit import reward_range
from swarm.learn.learner import UpdateMetrics
from swarm.records import Episode, FloatArray, Group, StopReason
from swarm.train.metric_table import LOGGED, Logged


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
        "reward/min": min(rewards, default=math.nan),
        "reward/max": max(rewards, default=math.nan),
        "reward/zero_std_frac": mean([reward_range(g) <= TOLERANCE for g in groups]),
        "tokens/prompt": float(sum(len(g.prompt) for g in groups)),
        "tokens/completion": float(sum(len(e.completion.tokens) for e in episodes)),
    }
    return values


def lengths_of(episodes: Sequence[Episode]) -> dict[str, float]:
    """Completion lengths in tokens, of all, the correct and the wrong; NaN where there is none. A
    prompt that was not asked has no answer, so it counts in `overlong_frac` alone."""
    answered = [e for e in episodes if e.completion.stop != StopReason.OVERLONG]
    lengths: dict[bool | None, list[int]] = {True: [], False: [], None: []}
    for episode in answered:
        lengths[episode.correct].append(len(episode.completion.tokens))
    return {
        "completions/mean_length": mean([n for of_kind in lengths.values() for n in of_kind]),
        "completions/mean_length_correct": mean(lengths[True]),
        "completions/mean_length_wrong": mean(lengths[False]),
        "completions/truncated_frac": mean(
            [e.completion.stop == StopReason.LENGTH for e in answered]
        ),
        "completions/overlong_frac": mean(
            [e.completion.stop == StopReason.OVERLONG for e in episodes]
        ),
    }


def of_evaluation(groups: Sequence[Group]) -> dict[str, float]:
    """Held-out accuracy, the mean over prompts of the share of right answers among those that were
    judged; the training reward on them, and their lengths."""
    episodes = [e for g in groups for e in g.episodes]
    lengths = lengths_of(episodes)
    judged = [[e.correct for e in g.episodes if e.correct is not None] for g in groups]
    return {
        "eval/acc": mean([mean(flags) for flags in judged if flags]),
        "eval/proxy": mean([e.reward for e in episodes if e.reward is not None]),
        "eval/length": lengths["completions/mean_length"],
        "eval/length_wrong": lengths["completions/mean_length_wrong"],
    }


def of_updates(updates: Sequence[UpdateMetrics]) -> dict[str, float]:
    """Loss, ratio and gradient figures of a batch's updates, those that their losses report; none
    when nothing was trained on."""
    tokens = sum(u.tokens for u in updates)
    if not tokens:
        return {"tokens/trained": 0.0}
    values = {
        "optim/grad_norm": sum(u.grad_norm for u in updates) / len(updates),
        "optim/lr": updates[-1].lr,
        "tokens/trained": float(tokens),
    }
    first = [u for u in updates if u.tokens][:1]
    for logged in LOGGED.values():
        value = _of_loss(logged, first if logged.first else updates)
        if value is not None:
            values[logged.name] = value
    if "behaviour" in first[0].sums:
        squares = first[0].tokens * first[0].sums["behaviour_squares"]
        ess = first[0].sums["behaviour"] ** 2 / squares if squares else float("nan")
        values["mismatch/ess"] = ess
    return values


def _of_loss(logged: Logged, updates: Sequence[UpdateMetrics]) -> float | None:
    """A metric's value over `updates`; None where no loss reports its figure."""
    if logged.max_of:
        seen = [u.maxima[logged.max_of] for u in updates if logged.max_of in u.maxima]
        return max(seen, default=None)
    if not any(logged.sum_of in u.sums for u in updates):
        return None
    value = _total(updates, logged.sum_of) / _total(updates, logged.per)
    return math.sqrt(value) if logged.root else value


def _total(updates: Sequence[UpdateMetrics], name: str) -> float:
    if name == "updates":
        return len(updates)
    return sum(u.tokens if name == "tokens" else u.sums.get(name, 0.0) for u in updates)


def token_count(groups: Sequence[Group]) -> int:
    """Logical tokens of a batch: each prompt once, each completion once, no padding."""
    return sum(len(g.prompt) + sum(len(e.completion.tokens) for e in g.episodes) for g in groups)


def mean(values: Sequence[float] | FloatArray) -> float:
    """The arithmetic mean; NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")
