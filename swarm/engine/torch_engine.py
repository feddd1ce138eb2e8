"""The in-process engine: one prefill a prompt, forked to its members, decoded as one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from transformers.cache_utils import DynamicCache

from swarm.learn.forward import decoder_of, fork
from swarm.records import Completion, SampleRequest, StopReason

#: Finished rows leave the batch once this share of it is done: a gather costs about a step.
COMPACT_AT = 0.25


@dataclass
class _Row:
    """One completion in flight."""

    request: int
    member: int
    draws: np.ndarray
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stop: StopReason | None = None

    def completion(self, stop: StopReason) -> Completion:
        return Completion(tuple(self.tokens), tuple(self.logprobs), stop)


class TorchEngine:
    """Samples from a causal language model of transformers.

    The caller chooses the weights: whatever adapter routing is in force while `sample` runs.
    """

    def __init__(self, model: nn.Module, stop_tokens: frozenset[int], max_rows: int = 512) -> None:
        self.model = model
        self.stop_tokens = stop_tokens
        self.max_rows = max_rows

    @torch.no_grad()
    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        results: list[dict[int, Completion]] = [{} for _ in requests]
        for wave in _waves(requests, self.max_rows):
            self._run(requests, wave, results)
        return [[found[m] for m in sorted(found)] for found in results]

    def _run(
        self,
        requests: Sequence[SampleRequest],
        wave: list[tuple[int, int]],
        results: list[dict[int, Completion]],
    ) -> None:
        rows = [
            _Row(
                r,
                m,
                np.random.Generator(np.random.Philox(requests[r].seeds[m])).random(
                    requests[r].max_tokens
                ),
            )
            for r, m in wave
        ]
        state = self._prefill(requests, rows)
        while rows:
            tokens, logprobs = self._draw(requests, rows, state.logits_BV)
            for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
                if row.stop is None:
                    row.tokens.append(token)
                    row.logprobs.append(logprob)
                    row.stop = self._stop(requests[row.request], row)
            live = [i for i, row in enumerate(rows) if row.stop is None]
            if len(rows) - len(live) >= COMPACT_AT * len(rows):
                for row in rows:
                    if row.stop is not None:
                        results[row.request][row.member] = row.completion(row.stop)
                rows = [rows[i] for i in live]
                if rows:
                    state = state.select(torch.as_tensor(live))
            if rows:
                state = self._step(state, [row.tokens[-1] for row in rows])

    def _stop(self, request: SampleRequest, row: _Row) -> StopReason | None:
        if row.tokens[-1] in self.stop_tokens:
            return StopReason.STOP
        return StopReason.LENGTH if len(row.tokens) >= request.max_tokens else None

    def _prefill(self, requests: Sequence[SampleRequest], rows: list[_Row]) -> "_State":
        device = next(self.model.parameters()).device
        wanted = sorted({row.request for row in rows})
        width = max(len(requests[r].prompt) for r in wanted)
        tokens_PT = torch.zeros(len(wanted), width, dtype=torch.long)
        valid_PT = torch.zeros(len(wanted), width, dtype=torch.long)
        for i, r in enumerate(wanted):
            prompt = requests[r].prompt
            tokens_PT[i, : len(prompt)] = torch.as_tensor(prompt)
            valid_PT[i, : len(prompt)] = 1
        tokens_PT, valid_PT = tokens_PT.to(device), valid_PT.to(device)
        positions = torch.arange(width, device=device).expand_as(tokens_PT)
        output = decoder_of(self.model)(
            input_ids=tokens_PT,
            attention_mask=valid_PT,
            position_ids=positions,
            past_key_values=DynamicCache(),
            use_cache=True,
        )
        lengths = valid_PT.sum(1)
        last_PD = output.last_hidden_state[torch.arange(len(wanted)), lengths - 1]
        logits_PV = self.model.get_output_embeddings()(last_PD)  # type: ignore[operator]
        index_of = {r: i for i, r in enumerate(wanted)}
        members = torch.as_tensor([index_of[row.request] for row in rows], device=device)
        return _State(
            logits_PV[members],
            fork(output.past_key_values, members),
            valid_PT[members],
            lengths[members],
        )

    def _step(self, state: "_State", tokens: list[int]) -> "_State":
        device = state.valid_BT.device
        ones = torch.ones(len(tokens), 1, dtype=torch.long, device=device)
        valid_BT = torch.cat([state.valid_BT, ones], dim=1)
        output = decoder_of(self.model)(
            input_ids=torch.as_tensor(tokens, device=device)[:, None],
            attention_mask=valid_BT,
            position_ids=state.lengths_B[:, None],
            past_key_values=state.cache,
            use_cache=True,
        )
        logits_BV = self.model.get_output_embeddings()(output.last_hidden_state[:, -1])  # type: ignore[operator]
        return _State(logits_BV, output.past_key_values, valid_BT, state.lengths_B + 1)

    def _draw(
        self, requests: Sequence[SampleRequest], rows: list[_Row], logits_BV: Tensor
    ) -> tuple[list[int], list[float]]:
        """Inverse-CDF draws from softmax(logits / T), one stored uniform a row and position."""
        temperatures = torch.tensor(
            [requests[row.request].temperature for row in rows], device=logits_BV.device
        )
        logprobs_BV = torch.log_softmax(logits_BV.float() / temperatures[:, None], dim=-1)
        cdf_BV = logprobs_BV.double().exp().cumsum(-1)
        uniforms = torch.tensor(
            [row.draws[min(len(row.tokens), len(row.draws) - 1)] for row in rows],
            dtype=torch.float64,
            device=logits_BV.device,
        )
        targets = (uniforms * cdf_BV[:, -1])[:, None]
        tokens_B = torch.searchsorted(cdf_BV, targets, right=True).squeeze(1)
        tokens_B = tokens_B.clamp(max=logits_BV.shape[1] - 1)
        drawn = logprobs_BV.gather(1, tokens_B[:, None]).squeeze(1)
        return tokens_B.tolist(), drawn.tolist()


@dataclass(frozen=True)
class _State:
    """The batch between two steps: next-token logits, keys and values, mask, path lengths."""

    logits_BV: Tensor
    cache: DynamicCache
    valid_BT: Tensor
    lengths_B: Tensor

    def select(self, rows: Tensor) -> "_State":
        rows = rows.to(self.valid_BT.device)
        return _State(
            self.logits_BV[rows], fork(self.cache, rows), self.valid_BT[rows], self.lengths_B[rows]
        )


def _waves(requests: Sequence[SampleRequest], max_rows: int) -> list[list[tuple[int, int]]]:
    """(request, member) pairs in batches of at most `max_rows`, requests in order."""
    pairs = [(r, m) for r, request in enumerate(requests) for m in range(len(request.seeds))]
    return [pairs[i : i + max_rows] for i in range(0, len(pairs), max_rows)]
