"""Prompts that fill the context, through a training batch: counted, not scored, not trained."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from support.models import llama
from support.scored_groups import credited_trees

from swarm import tasks
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings, SamplingSettings, TaskSettings
from swarm.dataflow.rollout import roll_out
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.credit import keep_groups
from swarm.learn.learner import Learner
from swarm.models.ends import Ends
from swarm.models.tokenizer import build_tokenizer
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import Completion, Episode, Group, StopReason
from swarm.tasks import Problem
from swarm.train import metrics

TOKENIZER = build_tokenizer()
ENDS = Ends(frozenset({TOKENIZER.eos_token_id}), TOKENIZER.eos_token_id, TOKENIZER.pad_token_id)
LONG = Problem("R:" + "ab" * 80 + ">", "ba" * 80, 160)  # more than the 128 positions of the model
USUAL = [Problem("R:abcd>", "dcba", 4), Problem("R:xy>", "yx", 2)]
OVERLONG = Episode(Completion((), (), StopReason.OVERLONG), "", None, None, 0)


@pytest.fixture
def policy() -> Policy:
    host = AdapterHost.wrap(llama(vocabulary=len(TOKENIZER)))
    return Policy(host, PolicySettings(rank=4), OptimSettings(), 0)


def rolled_out(policy: Policy, problems: Sequence[Problem]) -> list[Group]:
    return roll_out(
        TorchEngine(policy.host, frozenset({TOKENIZER.eos_token_id})),
        TOKENIZER,
        tasks.load(TaskSettings(reward="partial")),
        problems,
        ends=ENDS,
        members=4,
        sampling=SamplingSettings(max_tokens=8),
        seed_parts=(0,),
        version=0,
        slot=policy.adapter,
    )


def test_a_batch_with_an_overlong_prompt_trains_on_the_others(policy: Policy) -> None:
    groups = rolled_out(policy, [*USUAL, LONG])
    assert groups[2].episodes == (OVERLONG,) * 4
    assert groups[:2] == rolled_out(policy, USUAL)
    assert keep_groups(groups, "none") == groups[:2]
    figures = metrics.of_rollouts(groups)
    assert figures["completions/overlong_frac"] == pytest.approx(1 / 3)
    usual = metrics.of_rollouts(groups[:2])
    for name in ("mean_length", "mean_length_wrong", "truncated_frac"):
        assert figures[f"completions/{name}"] == usual[f"completions/{name}"]
    assert metrics.of_evaluation(groups) == metrics.of_evaluation(groups[:2])
    lost = metrics.of_evaluation(groups[2:])
    assert all(np.isnan(lost[name]) for name in ("eval/acc", "eval/proxy", "eval/length"))
    assert figures["reward/mean"] == metrics.of_rollouts(groups[:2])["reward/mean"]


def test_overlong_members_change_neither_baseline_nor_weights(policy: Policy) -> None:
    """A group survives with the members that were answered."""
    usual = rolled_out(policy, USUAL)
    mixed = [dataclasses.replace(g, episodes=(OVERLONG, *g.episodes, OVERLONG)) for g in usual]
    optim, algorithm = OptimSettings(), AlgorithmSettings(aggregation="sequence_mean")
    (plain,), (beside,) = (credited_trees(groups, algorithm, 8, 1) for groups in (usual, mixed))
    for a, b in zip(plain, beside, strict=True):
        for node, other in zip(a.nodes, b.nodes, strict=True):
            np.testing.assert_array_equal(node.tokens, other.tokens)
            np.testing.assert_array_equal(node.advantage, other.advantage)
            np.testing.assert_array_equal(node.weight, other.weight)
    learner = Learner(policy.host.model, policy, optim, algorithm, 1.0, 1)
    update = learner.reinforce(beside)
    assert update.tokens == sum(len(e.completion.tokens) for g in usual for e in g.episodes)
