"""Evaluate a base model or an adapter on held-out prompts, or on evaluation sets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from swarm.config.parts import EvalSet, SamplingSettings
from swarm.config.train import TrainConfig
from swarm.dataflow.rollout import roll_out
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.adapters import load_adapter, load_weights
from swarm.policy.base_model import Base
from swarm.policy.saved_weights import find_weights
from swarm.records import Group, StopReason
from swarm.train import metrics
from swarm.train.alarms import Alarm, alarms, not_finite
from swarm.train.eval_sets import Ready, check_sets, load_sets, load_training
from swarm.train.proof import load_proven

#: As good as zero: the likeliest token is taken unless another's logit is within about 1e-5.
GREEDY_TEMPERATURE = 1e-6

CONFIDENCE = 0.95

#: Where an adapter under evaluation lies.
SLOT = "evaluated"


@dataclass(frozen=True)
class Evaluation:
    """avg@1: the share of `n` judged answers that is correct, one a held-out prompt, with Wilson's
    95 % interval over prompts (J. Am. Stat. Assoc. 22, 1927), and the mean training reward.
    `overlong` of the `prompts` fill the model's context and were not asked. Lengths are in tokens.
    What could not be measured is NaN; `alarms` say what looks wrong."""

    n: int
    accuracy: float
    low: float
    high: float
    reward: float
    mean_length: float
    truncated: float
    prompts: int = 0
    overlong: int = 0
    alarms: tuple[Alarm, ...] = ()
    sets: tuple["SetEvaluation", ...] = ()


@dataclass(frozen=True)
class Share:
    """A mean over prompts with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SetEvaluation:
    """An evaluation set: avg@k, and pass@j by j, over its `judged` prompts of `prompts`."""

    name: str
    ref: str
    digest: str
    prompts: int
    judged: int
    k: int
    temperature: float
    avg: Share
    passes: Mapping[int, Share]


def evaluate(config: TrainConfig, adapter: Path | None = None, greedy: bool = False) -> Evaluation:
    """Answers to the held-out prompts, or to those of the config's sets, sampled as training
    evaluates, or greedy. `adapter` is the folder of a LoRA adapter, of all weights, or of a run
    that trained either. Raises Refusal for what cannot be used, RewardFailed when the user's
    reward fails."""
    task = load_training(config)
    sets = load_sets(config, task)
    base = load_proven(config.model, config.device)
    task.check(base.tokenizer, config, base.limit)
    check_sets(sets, task, base, config)
    found = None if adapter is None else find_weights(adapter)
    if found is not None and found.kind == "lora":
        load_adapter(base.host, found.folder, SLOT)
    elif found is not None:
        load_weights(base.host, found.folder)
    slot = SLOT if found is not None and found.kind == "lora" else None
    engine = TorchEngine(base.host, base.stop_tokens)
    engine.check_budget(config.sampling.max_tokens)
    if greedy:
        sets = tuple(replace(each, temperature=GREEDY_TEMPERATURE) for each in sets)
    budget = config.sampling.max_tokens
    answers = [answers_of(each, engine, base, budget, version=0, slot=slot) for each in sets]
    counted = [
        _of_set(ready, named, groups)
        for ready, named, groups in zip(sets, config.evaluation.sets, answers, strict=False)
    ]
    return replace(_counted(answers[0], config), sets=tuple(counted))


def answers_of(
    each: Ready,
    engine: TorchEngine,
    base: Base,
    max_tokens: int,
    *,
    version: int,
    slot: str | None,
) -> list[Group]:
    """`k` answers to each prompt of a set: the same draws for every run and step."""
    return roll_out(
        engine,
        base.tokenizer,
        each.task,
        each.problems,
        ends=base.ends,
        members=each.k,
        sampling=SamplingSettings(temperature=each.temperature, max_tokens=max_tokens),
        seed_parts=each.seed_parts,
        version=version,
        slot=slot,
    )


def _of_set(ready: Ready, named: EvalSet, groups: Sequence[Group]) -> SetEvaluation:
    judged = [[e.correct for e in g.episodes if e.correct is not None] for g in groups]
    right = [(len(flags), sum(flags)) for flags in judged if flags]
    return SetEvaluation(
        name=ready.title,
        ref=named.ref,
        digest=ready.digest,
        prompts=len(groups),
        judged=len(right),
        k=ready.k,
        temperature=ready.temperature,
        avg=share([c / n for n, c in right]),
        passes={
            j: share([metrics.pass_at(j, n, c) for n, c in right if n >= j])
            for j in metrics.passes(ready.k)
        },
    )


def share(values: Sequence[float]) -> Share:
    """The mean of a figure over prompts and its interval: Wilson's where each is 0 or 1, else a
    t interval over prompts, the unit that is drawn, within [0, 1]."""
    from scipy.stats import t

    n = len(values)
    if all(value in (0.0, 1.0) for value in values):
        return Share(metrics.mean(values), *_interval(round(sum(values)), n))
    mean = metrics.mean(values)
    half = float(t.ppf(0.5 + CONFIDENCE / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return Share(mean, max(0.0, mean - half), min(1.0, mean + half))


def _counted(groups: Sequence[Group], config: TrainConfig) -> Evaluation:
    episodes = [episode for group in groups for episode in group.episodes]
    judged = [episode.correct for episode in episodes if episode.correct is not None]
    if any(len(group.episodes) > 1 for group in groups):
        by_prompt = [
            metrics.mean([e.correct for e in g.episodes if e.correct is not None])
            for g in groups
            if any(e.correct is not None for e in g.episodes)
        ]
        found_share = share(by_prompt)
    else:
        found_share = Share(metrics.mean(judged), *_interval(sum(judged), len(judged)))
    lengths = metrics.lengths_of(episodes)
    row = {"step": 0, "metrics": metrics.of_evaluation(groups) | lengths}
    found = alarms([row], config, ended=True)
    return Evaluation(
        n=len(judged),
        accuracy=found_share.value,
        low=found_share.low,
        high=found_share.high,
        reward=metrics.mean([e.reward for e in episodes if e.reward is not None]),
        mean_length=lengths["completions/mean_length"],
        truncated=lengths["completions/truncated_frac"],
        prompts=len(episodes),
        overlong=sum(e.completion.stop == StopReason.OVERLONG for e in episodes),
        alarms=(*not_finite(episodes, config), *found),
    )


def _interval(right: int, n: int) -> tuple[float, float]:
    from scipy.stats import binomtest

    if not n:
        return math.nan, math.nan
    interval = binomtest(right, n).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)
