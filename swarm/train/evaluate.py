"""Evaluate a base model or an adapter on the held-out prompts of a task."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swarm.config.parts import SamplingSettings
from swarm.config.train import TrainConfig
from swarm.dataflow.rollout import roll_out
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.adapters import load_adapter, load_weights
from swarm.policy.saved_weights import find_weights
from swarm.records import Group, StopReason
from swarm.tasks import load
from swarm.train import metrics
from swarm.train.alarms import Alarm, alarms, not_finite
from swarm.train.proof import load_proven

#: Runs are evaluated at this temperature, whatever they train at.
EVAL_TEMPERATURE = 1.0

#: As good as zero: the likeliest token is taken unless another's logit is within about 1e-5.
GREEDY_TEMPERATURE = 1e-6

#: Seeds of evaluation draws; the same in every run.
EVAL_SEEDS = ("evaluation",)

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


def evaluate(config: TrainConfig, adapter: Path | None = None, greedy: bool = False) -> Evaluation:
    """One answer to each held-out prompt, sampled at temperature 1 as training evaluates, or
    greedy. `adapter` is the folder of a LoRA adapter, of all weights, or of a run that trained
    either. Raises Refusal for what cannot be used, RewardFailed when the user's reward fails."""
    task = load(config.task)
    base = load_proven(config.model, config.device)
    task.check(base.tokenizer, config, base.limit)
    temperature = GREEDY_TEMPERATURE if greedy else EVAL_TEMPERATURE
    found = None if adapter is None else find_weights(adapter)
    if found is not None and found.kind == "lora":
        load_adapter(base.host, found.folder, SLOT)
    elif found is not None:
        load_weights(base.host, found.folder)
    engine = TorchEngine(base.host, base.stop_tokens)
    engine.check_budget(config.sampling.max_tokens)
    groups = roll_out(
        engine,
        base.tokenizer,
        task,
        task.evaluation(config.evaluation.prompts),
        ends=base.ends,
        members=1,
        sampling=SamplingSettings(temperature=temperature, max_tokens=config.sampling.max_tokens),
        seed_parts=EVAL_SEEDS,
        version=0,
        slot=SLOT if found is not None and found.kind == "lora" else None,
    )
    return _counted(groups, config)


def _counted(groups: Sequence[Group], config: TrainConfig) -> Evaluation:
    episodes = [episode for group in groups for episode in group.episodes]
    judged = [episode.correct for episode in episodes if episode.correct is not None]
    low, high = _interval(sum(judged), len(judged))
    lengths = metrics.lengths_of(episodes)
    row = {"step": 0, "metrics": metrics.of_evaluation(groups) | lengths}
    found = alarms([row], config, ended=True)
    return Evaluation(
        n=len(judged),
        accuracy=metrics.mean(judged),
        low=low,
        high=high,
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
