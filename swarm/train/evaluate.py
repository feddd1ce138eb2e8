"""Evaluate a base model or an adapter on held-out prompts, or on evaluation sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swarm.config.parts import EvalSet, SamplingSettings
from swarm.config.train import TrainConfig
from swarm.dataflow.rollout import roll_out
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.adapters import load_adapter, load_weights
from swarm.policy.base_model import Base
from swarm.policy.saved_weights import find_weights
from swarm.records import Episode, Group, StopReason
from swarm.train import metrics
from swarm.train.alarms import alarms, not_finite
from swarm.train.curves import Alarm
from swarm.train.eval_sets import Ready, check_sets, load_sets, load_training, with_digests
from swarm.train.intervals import Share, share_of
from swarm.train.metric_table import names_of_set
from swarm.train.proof import load_proven
from swarm.train.set_figures import figures, judged, of_set, shares_right

#: As good as zero: the likeliest token is taken unless another's logit is within about 1e-5.
GREEDY_TEMPERATURE = 1e-6

#: Where an adapter under evaluation lies.
SLOT = "evaluated"


@dataclass(frozen=True)
class Answers:
    """What is told of answers apart from their rightness: the mean training reward, their mean
    length in tokens, the share that was cut off; how many of `prompts` prompts fill the model's
    context and were not asked (`overlong`), how many `answers` there are to all prompts, and how
    many of those that were asked for were not judged. What could not be measured is NaN."""

    reward: float
    mean_length: float
    truncated: float
    prompts: int
    overlong: int
    answers: int
    unjudged: int


@dataclass(frozen=True)
class SetEvaluation(Answers):
    """An evaluation set: its shares by the names of their metrics, avg@k first, over the `n`
    prompts of which an answer was judged."""

    name: str
    ref: str
    digest: str
    k: int
    temperature: float
    n: int
    shares: Mapping[str, Share]


@dataclass(frozen=True)
class Evaluation(Answers):
    """avg@k on held-out prompts, or on the first of `sets`: the mean over the `n` prompts that were
    judged of the share of right answers, with its 95 % interval (`swarm.train.intervals`). `alarms`
    say what looks wrong."""

    n: int
    accuracy: float
    low: float
    high: float
    alarms: tuple[Alarm, ...] = ()
    sets: tuple[SetEvaluation, ...] = ()


def evaluate(config: TrainConfig, adapter: Path | None = None, greedy: bool = False) -> Evaluation:
    """Answers to the held-out prompts, or to those of the config's sets, sampled as training
    evaluates, or one greedy answer to each. `adapter` is the folder of a LoRA adapter, of all
    weights, or of a run that trained either. Raises Refusal for what cannot be used, RewardFailed
    when the user's reward fails."""
    task = load_training(config)
    sets = load_sets(config, task)
    config = with_digests(config, sets)
    base = load_proven(config.model, config.device)
    task.check(base.tokenizer, config, base.limit)
    check_sets(sets, task, base.tokenizer, config, base.limit)
    found = None if adapter is None else find_weights(adapter)
    if found is not None and found.kind == "lora":
        load_adapter(base.host, found.folder, SLOT)
    elif found is not None:
        load_weights(base.host, found.folder)
    slot = SLOT if found is not None and found.kind == "lora" else None
    engine = TorchEngine(base.host, base.stop_tokens)
    engine.check_budget(config.sampling.max_tokens)
    if greedy:
        sets = tuple(replace(each, temperature=0.0, k=1) for each in sets)
    budget = config.sampling.max_tokens
    answers = [answers_of(each, engine, base, budget, version=0, slot=slot) for each in sets]
    return _counted(answers, sets, config)


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
    temperature = each.temperature or GREEDY_TEMPERATURE
    return roll_out(
        engine,
        base.tokenizer,
        each.task,
        each.problems,
        ends=base.ends,
        members=each.k,
        sampling=SamplingSettings(temperature=temperature, max_tokens=max_tokens),
        seed_parts=each.seed_parts,
        version=version,
        slot=slot,
    )


def _counted(
    answers: Sequence[Sequence[Group]], sets: Sequence[Ready], config: TrainConfig
) -> Evaluation:
    """The evaluation of these answers, a list of groups a set."""
    first = judged(answers[0])
    accuracy = share_of(shares_right(first), sets[0].k)
    row = metrics.of_evaluation(answers[0]) | metrics.lengths_of(_episodes(answers[0]))
    for ready, groups in zip(sets, answers, strict=True):
        row |= of_set(ready.title, groups, ready.k) if ready.title else {}
    episodes = [episode for groups in answers for episode in _episodes(groups)]
    found = alarms([{"step": 0, "metrics": row}], config, ended=True)
    named = config.evaluation.sets
    return Evaluation(
        **vars(_told(answers[0])),
        n=len(first),
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        alarms=(*not_finite(episodes, config), *found),
        sets=tuple(_of_set(*each) for each in zip(sets, named, answers, strict=False)),
    )


def _of_set(ready: Ready, named: EvalSet, groups: Sequence[Group]) -> SetEvaluation:
    found = judged(groups)
    shares = (share_of(values, most) for values, most in figures(found, ready.k))
    return SetEvaluation(
        **vars(_told(groups)),
        name=ready.title,
        ref=named.ref,
        digest=ready.digest,
        k=ready.k,
        temperature=ready.temperature,
        n=len(found),
        shares=dict(zip(names_of_set(ready.title, ready.k), shares, strict=False)),
    )


def _told(groups: Sequence[Group]) -> Answers:
    episodes = _episodes(groups)
    asked = [e for e in episodes if e.completion.stop != StopReason.OVERLONG]
    lengths = metrics.lengths_of(episodes)
    return Answers(
        reward=metrics.mean([e.reward for e in episodes if e.reward is not None]),
        mean_length=lengths["completions/mean_length"],
        truncated=lengths["completions/truncated_frac"],
        prompts=len(groups),
        overlong=sum(g.episodes[0].completion.stop == StopReason.OVERLONG for g in groups),
        answers=len(episodes),
        unjudged=sum(e.correct is None for e in asked),
    )


def _episodes(groups: Sequence[Group]) -> list[Episode]:
    return [episode for group in groups for episode in group.episodes]
