"""The learner: token trees in, one optimizer update out."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings
from swarm.learn.forward import TrainedTokens, trained_logprobs
from swarm.learn.loss import Loss, policy_loss, supervised_loss
from swarm.learn.preference import preference_loss
from swarm.learn.ratios import sequence_ids
from swarm.learn.update import PerTreeArrays, UpdateMetrics
from swarm.learn.value import value_loss
from swarm.policy.policy import Policy
from swarm.records import FloatArray, TokenTree

#: Most tokens in one micro-batch. It bounds memory and cannot change the maths.
TOKEN_BUDGET = 4096


class Diverged(Exception):
    """A loss or gradient is not finite; the weights are those before this update.

    `trees` are those of the update, in order, for whoever wants to keep them.
    """

    def __init__(self, message: str, trees: Sequence[TokenTree]) -> None:
        super().__init__(message)
        self.trees = tuple(trees)


class Learner:
    """Steps one policy. `total_steps` is the schedule's length, in optimizer batches;
    `token_budget` bounds a micro-batch."""

    def __init__(
        self,
        model: nn.Module,
        policy: Policy,
        optim: OptimSettings,
        algorithm: AlgorithmSettings,
        temperature: float,
        total_steps: int,
        token_budget: int = TOKEN_BUDGET,
    ) -> None:
        self.model = model
        self.policy = policy
        self.optim = optim
        self.algorithm = algorithm
        self.temperature = temperature
        self.total_steps = total_steps
        self.token_budget = token_budget

    def reinforce(
        self, trees: Sequence[TokenTree], arrays: PerTreeArrays = PerTreeArrays()
    ) -> UpdateMetrics:
        """One update by the algorithm's objective on the union of `trees`, weights as given.

        `arrays` holds what else the objective needs of each tree. Raises Diverged, leaving weights
        and optimizer as they were, and ValueError where a tree has no sequences (`sequence_ids`).
        """
        self.policy.optimizer.zero_grad(set_to_none=True)
        tokens = sum(tree.trained_tokens for tree in trees)
        sums: dict[str, float] = {}
        maxima: dict[str, float] = {}
        for batch in micro_batches(trees, self.token_budget):
            loss = self._loss([trees[i] for i in batch], arrays.part(batch), tokens)
            loss.total.backward()  # type: ignore[no-untyped-call]
            for name, value in loss.sums.items():
                sums[name] = sums.get(name, 0.0) + float(value)
            for name, value in loss.maxima.items():
                maxima[name] = max(maxima.get(name, float(value)), float(value))
        lr = scheduled_lr(self.optim, self.policy.version, self.total_steps)
        return UpdateMetrics(tokens, sums, maxima, self._update(lr, trees), lr)

    def _loss(self, trees: Sequence[TokenTree], arrays: PerTreeArrays, tokens: int) -> Loss:
        """The loss of a micro-batch. `tokens` are those of the whole optimizer batch."""
        with self._active():
            seen = trained_logprobs(
                self.model,
                trees,
                self.temperature,
                entropy_grad=self.algorithm.entropy_coef != 0,
            )
        reference = None if arrays.reference is None else self._tensor(arrays.reference)
        advantages, weights = self._field(trees, "advantage"), self._field(trees, "weight")
        if self.algorithm.objective == "preference":
            assert reference is not None
            pairs = np.repeat(np.arange(len(trees)), [tree.trained_tokens for tree in trees])
            return preference_loss(
                seen.logprobs,
                seen.entropy,
                reference,
                advantages,
                weights,
                torch.as_tensor(pairs, device=reference.device),
                self.algorithm.beta,
            )
        sequences = None
        if self.algorithm.needs_sequences:
            sequences = torch.as_tensor(sequence_ids(trees), device=seen.logprobs.device)
        loss = policy_loss(
            seen.logprobs,
            seen.entropy,
            self._field(trees, "logprobs"),
            advantages,
            weights,
            reference,
            self.algorithm,
            anchor_logprobs=None if arrays.anchor is None else self._tensor(arrays.anchor),
            sequences=sequences,
        )
        if self.policy.value_head is None or arrays.values is None or arrays.returns is None:
            return loss
        return loss + value_loss(
            self.policy.value_head(seen.hidden),
            self._tensor(arrays.values),
            self._tensor(arrays.returns),
            self.algorithm.value.clip,
            tokens,
        )

    def supervise(self, trees: Sequence[TokenTree], lr: float) -> float:
        """One cross-entropy update; returns the loss. Raises Diverged."""
        self.policy.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self._active():
                seen = trained_logprobs(self.model, part, 1.0)
            loss = supervised_loss(seen.logprobs, self._field(part, "weight"))
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        self._update(lr, trees)
        return total

    @torch.no_grad()
    def logprobs(self, trees: Sequence[TokenTree], temperature: float) -> list[FloatArray]:
        """Per tree, the log-probabilities of its trained tokens at `temperature` under the weights
        in force."""
        return self._by_tree(trees, temperature, lambda seen: seen.logprobs)

    @torch.no_grad()
    def values(self, trees: Sequence[TokenTree]) -> list[FloatArray]:
        """Per tree, the value head's estimate of the state that each trained token is sampled in.
        Raises ValueError for a policy without a value head."""
        head = self.policy.value_head
        if head is None:
            raise ValueError("the policy has no value head")
        return self._by_tree(trees, 1.0, lambda seen: head(seen.hidden))

    def _by_tree(
        self,
        trees: Sequence[TokenTree],
        temperature: float,
        of: Callable[[TrainedTokens], Tensor],
    ) -> list[FloatArray]:
        """Per tree, what `of` reads from a forward pass, [trained tokens]."""
        found: list[FloatArray] = [np.zeros(0, np.float32)] * len(trees)
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self._active():
                flat = of(trained_logprobs(self.model, part, temperature)).cpu().numpy()
            ends = np.cumsum([tree.trained_tokens for tree in part])
            for index, values in zip(batch, np.split(flat, ends[:-1]), strict=True):
                found[index] = values
        return found

    def _active(self) -> AbstractContextManager[None]:
        return self.policy.active()

    def _update(self, lr: float, trees: Sequence[TokenTree]) -> float:
        """Clip and step; the policy's gradient norm, unclipped. A value head, the optimizer's
        second group, is clipped on its own and keeps its learning rate."""
        groups = self.policy.optimizer.param_groups
        norms = [
            float(nn.utils.clip_grad_norm_(group["params"], self.optim.grad_clip))
            for group in groups
        ]
        broken = [norm for norm in norms if not math.isfinite(norm)]
        if broken:
            self.policy.optimizer.zero_grad(set_to_none=True)
            raise Diverged(f"the gradient norm is {broken[0]}", trees)
        groups[0]["lr"] = lr
        self.policy.optimizer.step()
        return norms[0]

    def _field(self, trees: Sequence[TokenTree], name: str) -> Tensor:
        """[M]: a per-token array of the trees' trained tokens, concatenated."""
        return self._tensor(
            [getattr(node, name)[node.mask] for tree in trees for node in tree.nodes]
        )

    def _tensor(self, arrays: Sequence[FloatArray]) -> Tensor:
        device = next(self.model.parameters()).device
        return torch.as_tensor(np.concatenate(arrays), dtype=torch.float32, device=device)


def scheduled_lr(optim: OptimSettings, step: int, total: int) -> float:
    """The learning rate of batch `step` (from 0) of `total`: linear warm-up, then the schedule
    down to 0 at `total`, or flat."""
    if step < optim.warmup_steps:
        return optim.lr * (step + 1) / optim.warmup_steps
    progress = (step - optim.warmup_steps) / max(1, total - optim.warmup_steps)
    factor = {
        "constant": 1.0,
        "linear": 1 - progress,
        "cosine": 0.5 * (1 + math.cos(math.pi * progress)),
    }[optim.schedule]
    return optim.lr * factor


def micro_batches(trees: Sequence[TokenTree], budget: int) -> list[list[int]]:
    """Tree indices in order, cut so that tokens stay within `budget` (one tree at least). Trees
    without a trained token are left out."""
    batches: list[list[int]] = []
    filled = 0
    for index, tree in enumerate(trees):
        if not tree.trained_tokens:
            continue
        tokens = sum(len(node.tokens) for node in tree.nodes)
        if not batches or filled + tokens > budget:
            batches.append([])
            filled = 0
        batches[-1].append(index)
        filled += tokens
    return batches
