"""From a batch to its optimizer updates: the passes that an algorithm's settings ask for. Before
the first update the weights are still those of the batch's start, so everything that must be read
from them (anchor log-probabilities, values, the reference) is read once, here."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import BatchSettings
from swarm.learn.advantages import token_weights
from swarm.learn.credit import (
    Advantages,
    advantages,
    credit,
    cut,
    shaped_rewards,
    token_rewards,
    whitened,
)
from swarm.learn.learner import Learner, PerTreeArrays, UpdateMetrics
from swarm.learn.preference import pair_batches
from swarm.learn.scored import ScoredTree, scored_tree
from swarm.learn.value import generalised_advantages
from swarm.records import FloatArray, Group, RealArray, TokenTree, reweighted

#: The version of a policy that KL terms and preferences refer to: before its first update.
REFERENCE = 0


class Recipe:
    """Turns batches into updates of the learner's policy. `max_tokens` is an answer's budget."""

    def __init__(self, learner: Learner, batch: BatchSettings, max_tokens: int) -> None:
        self.learner = learner
        self.settings: AlgorithmSettings = learner.algorithm
        self.batch = batch
        self.max_tokens = max_tokens

    def reinforce(self, groups: Sequence[Group]) -> list[UpdateMetrics]:
        """All updates of a batch of groups, each with a scored episode. Raises Diverged."""
        if self.settings.objective == "preference":
            return self._passes(pair_batches(groups, self.batch.minibatches))
        return self.reinforce_trees([scored_tree(group) for group in groups])

    def reinforce_trees(self, scored: Sequence[ScoredTree]) -> list[UpdateMetrics]:
        """The same for episodes of any shape, but for preferences."""
        trees = [s.tree for s in scored]
        k1 = self._k1(trees) if self.settings.kl_in_reward else None
        values = returns = None
        if self.settings.baseline == "value":
            values = self.learner.values(trees)
            found, returns = self._estimates(scored, values, k1)
        else:
            found = advantages(scored, self.settings, self.max_tokens, k1)
        batches = credit(scored, found, self.settings, self.max_tokens, self.batch.minibatches)
        parts = cut(len(trees), self.batch.minibatches)
        return self._passes(
            batches, [PerTreeArrays(values=values, returns=returns).part(i) for i in parts]
        )

    def imitate(self, demonstrations: Sequence[TokenTree]) -> list[UpdateMetrics]:
        """All updates of a batch of demonstrations. Raises Diverged."""
        batches = []
        for part in cut(len(demonstrations), self.batch.minibatches):
            trees = [demonstrations[i] for i in part]
            lengths = [[tree.trained_tokens] for tree in trees]
            weights = token_weights(lengths, self.settings.aggregation, self.max_tokens)
            batches.append(
                [
                    reweighted(tree, [(n.mask * w).astype(np.float32) for n in tree.nodes])
                    for tree, (w,) in zip(trees, weights, strict=True)
                ]
            )
        return self._passes(batches)

    def _passes(
        self, batches: Sequence[list[TokenTree]], critic: Sequence[PerTreeArrays] | None = None
    ) -> list[UpdateMetrics]:
        """Every pass over every optimizer batch, with what is read from the weights before them.
        Read batch by batch, the anchor equals the first update's log-probabilities bit for bit."""
        settings, learner = self.settings, self.learner
        compared = settings.kl_in_loss or settings.objective == "preference"
        anchored = settings.anchor == "batch_start"
        critic = critic or [PerTreeArrays()] * len(batches)
        arrays = [
            replace(
                extra,
                reference=self._reference(trees) if compared else None,
                anchor=learner.logprobs(trees, learner.temperature) if anchored else None,
            )
            for trees, extra in zip(batches, critic, strict=True)
        ]
        return [
            learner.reinforce(trees, extra)
            for _ in range(self.batch.epochs)
            for trees, extra in zip(batches, arrays, strict=True)
        ]

    def _estimates(
        self,
        scored: Sequence[ScoredTree],
        values: Sequence[FloatArray],
        k1: Sequence[RealArray] | None,
    ) -> tuple[Advantages, list[FloatArray]]:
        """Advantages over the batch and, per tree, the returns of its trained tokens."""
        settings = self.settings.value
        rewards = shaped_rewards(scored, self.settings, self.max_tokens)
        per_token = token_rewards(scored, rewards, k1, self.settings.kl_coef)
        after = self._after(scored)
        found: list[list[RealArray | None]] = []
        returns = []
        for tree, rows, flat, ends in zip(scored, per_token, values, after, strict=True):
            estimates = [
                None
                if r is None
                else generalised_advantages(r, v, end, settings.gamma, settings.lam)
                for r, v, end in zip(rows, tree.split(flat), ends, strict=True)
            ]
            found.append([None if e is None else e.advantages for e in estimates])
            empty = np.zeros(0, np.float32)
            returns.append(tree.join([empty if e is None else e.returns for e in estimates]))
        return whitened(found, self.settings), returns

    def _after(self, scored: Sequence[ScoredTree]) -> list[list[float]]:
        """Per episode, V past its last token: 0, or where the budget ended it and truncation is not
        terminal, the value of the state it was cut off in."""
        after = [[0.0] * len(s.rewards) for s in scored]
        if self.settings.value.truncation == "terminal":
            return after
        for ends, tree, flat in zip(
            after, scored, self.learner.values([s.continued() for s in scored]), strict=True
        ):
            cut_off = [e for e, n in enumerate(tree.lengths) if n and tree.truncated[e]]
            for episode, value in zip(cut_off, flat[len(flat) - len(cut_off) :], strict=True):
                ends[episode] = float(value)
        return after

    def _k1(self, trees: Sequence[TokenTree]) -> list[RealArray]:
        """Per tree, log(mu/ref) of its trained tokens, fp64: k1 under the law that sampled them."""
        sampled = [np.concatenate([n.logprobs[n.mask] for n in tree.nodes]) for tree in trees]
        return [
            s.astype(np.float64) - r for s, r in zip(sampled, self._reference(trees), strict=True)
        ]

    def _reference(self, trees: Sequence[TokenTree]) -> list[FloatArray]:
        with self.learner.policy.weights(REFERENCE):
            return self.learner.logprobs(trees, self.learner.temperature)
