"""The learner: token trees in, one optimizer update out."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from swarm.config import AlgorithmSettings, OptimSettings
from swarm.learn.forward import trained_logprobs
from swarm.learn.loss import policy_loss, supervised_loss
from swarm.policy.policy import Policy
from swarm.records import FloatArray, TokenTree

#: Most padded tokens in one micro-batch. It bounds memory and cannot change the maths.
TOKEN_BUDGET = 16_384


class Diverged(Exception):
    """A loss or gradient is not finite; the weights are those before this update."""


@dataclass(frozen=True)
class UpdateMetrics:
    """What one update saw; sums are over `tokens` trained tokens."""

    tokens: int
    policy_loss: float
    kl_sum: float
    entropy_sum: float
    clipped_low: int
    clipped_high: int
    max_ratio: float
    mismatch_sum: float
    grad_norm: float
    lr: float


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
        self, trees: Sequence[TokenTree], reference: Sequence[FloatArray] | None = None
    ) -> UpdateMetrics:
        """One policy-gradient update on the union of `trees`, weights as given.

        `reference` holds, per tree, the reference log-probabilities of its trained tokens.
        Raises Diverged, leaving weights and optimizer as they were.
        """
        self.policy.optimizer.zero_grad(set_to_none=True)
        sums = dict.fromkeys(("policy", "kl", "entropy", "low", "high", "mismatch"), 0.0)
        max_ratio, tokens = 0.0, 0
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self._active():
                seen = trained_logprobs(self.model, part, self.temperature, with_entropy=True)
            refs = None if reference is None else self._tensor([reference[i] for i in batch])
            loss = policy_loss(
                seen.logprobs,
                seen.entropy,
                self._field(part, "logprobs"),
                self._field(part, "advantage"),
                self._field(part, "weight"),
                refs,
                self.algorithm,
            )
            loss.total.backward()  # type: ignore[no-untyped-call]
            tokens += len(seen.logprobs)
            max_ratio = max(max_ratio, float(loss.max_ratio))
            for key, value in (
                ("policy", loss.policy),
                ("kl", loss.kl),
                ("entropy", seen.entropy.detach().sum()),
                ("low", loss.clipped_low),
                ("high", loss.clipped_high),
                ("mismatch", loss.mismatch),
            ):
                sums[key] += float(value)
        grad_norm, lr = self._update(self._scheduled_lr())
        return UpdateMetrics(
            tokens=tokens,
            policy_loss=sums["policy"],
            kl_sum=sums["kl"],
            entropy_sum=sums["entropy"],
            clipped_low=int(sums["low"]),
            clipped_high=int(sums["high"]),
            max_ratio=max_ratio,
            mismatch_sum=sums["mismatch"],
            grad_norm=grad_norm,
            lr=lr,
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
        self._update(lr)
        return total

    @torch.no_grad()
    def logprobs(self, trees: Sequence[TokenTree], temperature: float) -> list[FloatArray]:
        """Per tree, the log-probabilities of its trained tokens at `temperature` under the weights
        in force."""
        found: list[FloatArray] = [np.zeros(0, np.float32)] * len(trees)
        for batch in micro_batches(trees, self.token_budget):
            part = [trees[i] for i in batch]
            with self._active():
                flat = trained_logprobs(self.model, part, temperature).logprobs.cpu().numpy()
            ends = np.cumsum([tree.trained_tokens for tree in part])
            for index, values in zip(batch, np.split(flat, ends[:-1]), strict=True):
                found[index] = values
        return found

    def _active(self) -> AbstractContextManager[None]:
        return self.policy.active(1)

    def _update(self, lr: float) -> tuple[float, float]:
        parameters = list(self.policy.parameters.values())
        norm = float(nn.utils.clip_grad_norm_(parameters, self.optim.grad_clip))
        if not math.isfinite(norm):
            self.policy.optimizer.zero_grad(set_to_none=True)
            raise Diverged(f"the gradient norm is {norm}")
        for group in self.policy.optimizer.param_groups:
            group["lr"] = lr
        self.policy.optimizer.step()
        return norm, lr

    def _scheduled_lr(self) -> float:
        return scheduled_lr(self.optim, self.policy.version, self.total_steps)

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
    """Tree indices in order, cut so that padded tokens stay within `budget` (one tree at least).
    Trees without a trained token are left out.

    Padded tokens are those of a level-by-level pass: nodes of a depth times the longest of them.
    """
    batches: list[list[int]] = []
    widths: dict[int, int] = {}
    counts: dict[int, int] = {}
    for index, tree in enumerate(trees):
        if not tree.trained_tokens:
            continue
        for node, depth in zip(tree.nodes, tree.depths(), strict=True):
            widths[depth] = max(widths.get(depth, 0), len(node.tokens))
            counts[depth] = counts.get(depth, 0) + 1
        if not batches or sum(widths[d] * counts[d] for d in widths) > budget:
            batches.append([])
            widths, counts = {}, {}
            for node, depth in zip(tree.nodes, tree.depths(), strict=True):
                widths[depth] = max(widths.get(depth, 0), len(node.tokens))
                counts[depth] = counts.get(depth, 0) + 1
        batches[-1].append(index)
    return batches
