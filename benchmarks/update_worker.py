"""One trainer's side of `benchmarks.trl_update`: `python -m benchmarks.update_worker JSON`.

The JSON is {"trainer": "swarm"} or {"trainer": "trl", "settings": {fields of GRPOConfig}} and, if
wished, "head": "completion rows", which makes TRL score no other rows on this CPU, as it does where
it has Triton: a change to TRL that no setting makes, shown to tell its effect apart.

Requests: {"do": "update", "case": name} times one optimizer step; {"do": "gradient", "case": name,
"path": file} writes the gradient of the same step, before clipping; ask for it first.
"""

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoTokenizer
from trl.trainer import utils as trl_utils

from benchmarks.agreement import our_gradient
from benchmarks.harness import Payload, serve, timed
from benchmarks.trl_replay import Rollout, replay_trainer
from benchmarks.update_cases import Case, Head, cases, groups_of, trees_of
from swarm import models
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.learn.learner import Learner
from swarm.policy.base_model import load_base
from swarm.policy.policy import Policy
from swarm.records import Group, TokenTree

MODEL = "smollm2-135m-instruct"
POLICY = PolicySettings(rank=16, alpha=32)
#: TRL's learning rate, so small that a replayed batch stays near its sampler.
LEARNING_RATE, CLIP = 1e-6, 1.0
MAX_TOKENS = 512
ALGORITHM = AlgorithmSettings()


class Trainer(Protocol):
    """One side of the comparison."""

    def take(self, case: Case) -> None:
        """Replay this case from now on."""

    def update(self) -> None:
        """One optimizer step on it: what is timed."""

    def gradient(self) -> Tensor:
        """The gradient of such a step."""


class Ours:
    """This trainer in fp32 with its default algorithm."""

    def __init__(self) -> None:
        base = load_base(ModelSettings(ref=MODEL), "cpu")
        self.model = base.host.model
        self.policy = Policy(base.host, POLICY, OptimSettings(lr=LEARNING_RATE), seed=0)
        draw_adapter({path: (pair.a, pair.b) for path, pair in self.policy.pairs.items()})
        self.learner = self._learner(CLIP)

    def take(self, case: Case) -> None:
        """The sampler's log-probabilities come with the rollouts, so they are not timed."""
        groups = groups_of(case)
        found = self.learner.logprobs(self._trees(groups), 1.0)
        self.trees = self._trees(
            [_sampled(group, flat.tolist()) for group, flat in zip(groups, found, strict=True)]
        )

    def update(self) -> None:
        self.learner.reinforce(self.trees)

    def gradient(self) -> Tensor:
        self._learner(clip=1e9).reinforce(self.trees)
        return our_gradient(self.policy)

    def _learner(self, clip: float) -> Learner:
        optim = OptimSettings(lr=LEARNING_RATE, grad_clip=clip)
        return Learner(self.model, self.policy, optim, ALGORITHM, 1.0, total_steps=10_000)

    def _trees(self, groups: Sequence[Group]) -> list[TokenTree]:
        return trees_of(groups, ALGORITHM, MAX_TOKENS)


class Theirs:
    """TRL with the given settings; the rest is what `GRPOConfig` sets on this machine."""

    def __init__(self, settings: Mapping[str, object], head: Head) -> None:
        folder = models.ensure(MODEL)
        self.trainer = replay_trainer(
            folder,
            AutoTokenizer.from_pretrained(folder),
            POLICY,
            Path(tempfile.mkdtemp()),
            **{"scale_rewards": "none", "learning_rate": LEARNING_RATE} | dict(settings),
        )
        draw_adapter(self.trainer.pairs())
        if head == "completion rows":
            trl_utils._use_triton = lambda device: True
        self.trainer.start()

    def take(self, case: Case) -> None:
        self.trainer.num_generations = case.group_size
        self.trainer.freeze(
            [
                Rollout(g.prompt, e.completion.tokens, e.completion.logprobs, e.reward or 0.0)
                for g in groups_of(case)
                for e in g.episodes
            ]
        )

    def update(self) -> None:
        self.trainer.update()

    def gradient(self) -> Tensor:
        self.trainer.accumulate()
        found = self.trainer.gradient()
        self.trainer.prepared.zero_grad()
        return found


@torch.no_grad()
def draw_adapter(pairs: Mapping[str, tuple[nn.Parameter, nn.Parameter]]) -> None:
    """The same small adapter in every process: with B at zero, A would have no gradient."""
    rng = torch.Generator().manual_seed(0)
    for path in sorted(pairs):
        a, b = pairs[path]
        a.copy_(torch.empty(a.shape).normal_(0, 0.02, generator=rng))
        b.copy_(torch.empty(b.shape).normal_(0, 0.02, generator=rng))


def _sampled(group: Group, logprobs: list[float]) -> Group:
    """The group with these log-probabilities, its episodes' one after another."""
    episodes, start = [], 0
    for episode in group.episodes:
        end = start + len(episode.completion.tokens)
        completion = replace(episode.completion, logprobs=tuple(logprobs[start:end]))
        episodes.append(replace(episode, completion=completion))
        start = end
    return replace(group, episodes=tuple(episodes))


class Handler:
    """Answers requests with one trainer."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.case = ""

    def __call__(self, request: Payload) -> Payload:
        if request["case"] != self.case:
            self.trainer.take(cases()[request["case"]])
            self.case = request["case"]
        if request["do"] == "gradient":
            np.save(request["path"], self.trainer.gradient().numpy())
            return {}
        return timed(self.trainer.update)


def main(spec: Payload) -> None:
    if spec["trainer"] == "swarm":
        serve(Handler(Ours()))
    else:
        serve(Handler(Theirs(spec.get("settings", {}), spec.get("head", "all rows"))))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
