"""The learner: token trees in, one optimizer update out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings
from swarm.learn.forward import TrainedTokens, trained_logprobs
from swarm.learn.loss import Loss, policy_loss
from swarm.learn.preference import preference_loss
from swarm.learn.ratios import sequence_ids
from swarm.learn.value import value_loss
from swarm.policy.policy import Policy
from swarm.records import FloatArray, TokenTree

#: Most tokens in one micro-batch. It bounds memory and cannot change the maths.
TOKEN_BUDGET = 4096


class Diverged(Exception):
    """A loss or gradient is not finite; the weights are those before this update. `trees` are those
    of the update, in order, for whoever wants to keep them."""

    def __init__(self, message: str, trees: Sequence[TokenTree]) -> None:
        super().__init__(message)
        self.trees = tuple(trees)


@dataclass(frozen=True)
class UpdateMetrics:
    """What one update saw over its `tokens` trained tokens: the figures of its loss by name
    (`swarm.learn.loss.Loss`), the gradient's norm before clipping, the learning rate."""

    tokens: int
    sums: Mapping[str, float]
    maxima: Mapping[str, float]
    grad_norm: float
    lr: float


@dataclass(frozen=True)
class PerTreeArrays:
    """Per tree, arrays over its trained tokens that a loss needs and a tree does not hold:
    log-probabilities of the reference and of the policy at the start of the batch, and for a value
    head its old values and the returns it is trained towards."""

    reference: Sequence[FloatArray] | None = None
    anchor: Sequence[FloatArray] | None = None
    values: Sequence[FloatArray] | None = None
    returns: Sequence[FloatArray] | None = None

    def part(self, indices: Sequence[int]) -> "PerTreeArrays":
        """The arrays of the trees at `indices`."""
        arrays = (self.reference, self.anchor, self.values, self.returns)
        return PerTreeArrays(*(None if a is None else [a[i] for i in indices] for a in arrays))


@dataclass(eq=False, repr=False)
class Learner:
    """Steps one policy. `total_steps` is the schedule's length, in optimizer batches;
    `token_budget` bounds a micro-batch."""

    model: nn.Module
    policy: Policy
    optim: OptimSettings
    algorithm: AlgorithmSettings
    temperature: float
    total_steps: int
    token_budget: int = TOKEN_BUDGET

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
        with self.policy.active():
            bonus = self.algorithm.entropy_coef != 0
            seen = trained_logprobs(self.model, trees, self.temperature, entropy_grad=bonus)
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
        """One update by cross-entropy, -sum of weight x log pi; the loss. Raises Diverged."""
        self.policy.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self.policy.active():
                seen = trained_logprobs(self.model, part, 1.0)
            loss = -(self._field(part, "weight") * seen.logprobs).sum()
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
        self, trees: Sequence[TokenTree], temperature: float, of: Callable[[TrainedTokens], Tensor]
    ) -> list[FloatArray]:
        """Per tree, what `of` reads from a forward pass, [trained tokens]."""
        found: list[FloatArray] = [np.zeros(0, np.float32)] * len(trees)
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self.policy.active():
                flat = of(trained_logprobs(self.model, part, temperature)).cpu().numpy()
            ends = np.cumsum([tree.trained_tokens for tree in part])
            for index, values in zip(batch, np.split(flat, ends[:-1]), strict=True):
                found[index] = values
        return found

    def _update(self, lr: float, trees: Sequence[TokenTree]) -> float:
        """Clip and step; the policy's gradient norm, unclipped. A value head, the optimizer's
        second group, is clipped on its own and keeps its learning rate."""
        groups, most = self.policy.optimizer.param_groups, self.optim.grad_clip
        norms = [float(nn.utils.clip_grad_norm_(group["params"], most)) for group in groups]
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
