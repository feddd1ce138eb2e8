"""The in-process engine: continuous batching over rows of any adapters on one base. Each prompt is
prefilled once and forked to its members. All rows in flight take one step together; a finished row
leaves at once, and waiting members are admitted when enough places are free."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from swarm.engine.decode_rows import Rows
from swarm.engine.draw import draw
from swarm.engine.grouped_attention import grouped
from swarm.engine.kv_cache import RowCache
from swarm.engine.prefill import Admitted, Prompts
from swarm.engine.prepacked import PackedBase
from swarm.engine.trunk import Trunk
from swarm.errors import Refusal
from swarm.models.architectures import limit
from swarm.policy.lora import AdapterHost
from swarm.records import Completion, SampleRequest, StopReason

#: Rows in flight unless the caller says otherwise.
MAX_ROWS = 256

#: Members are admitted once this share of the places is free, or enough for all that wait: a
#: prefill costs at least about one decoding step, however few its prompts.
REFILL_SHARE = 0.125


class TorchEngine:
    """Samples from a causal language model of transformers and the adapters it hosts. Every layer
    attends to all that went before, or to a window of it."""

    def __init__(
        self,
        host: AdapterHost,
        stop_tokens: frozenset[int],
        max_rows: int = MAX_ROWS,
        longest: float = math.inf,
    ) -> None:
        """Rows end at `longest` tokens, or where the model's context does."""
        self.host = host
        self.stop_tokens = stop_tokens
        self.max_rows = max_rows
        self.base = PackedBase(host)
        config = host.model.config.get_text_config()  # type: ignore[operator, union-attr]
        self.context = min(limit(config).tokens, longest)

    def check_budget(self, max_tokens: int) -> None:
        """Raise Refusal for an answer's budget that no prompt leaves room for: answers would end at
        the context, and means over the budget would be over tokens that cannot be."""
        if max_tokens > self.context:
            raise Refusal(
                "sampling.max_tokens",
                f"{max_tokens} is above the {self.context} tokens of the model's context",
                "leave room for the prompt, or take a model with a longer context",
            )

    @torch.no_grad()
    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        """See `swarm.records.Engine`. Raises ValueError for a slot without an adapter."""
        results: list[dict[int, Completion]] = [{} for _ in requests]
        served = {r for r, request in enumerate(requests) if len(request.prompt) < self.context}
        for r in set(range(len(requests))) - served:
            overlong = Completion((), (), StopReason.OVERLONG)
            results[r] = dict.fromkeys(range(len(requests[r].seeds)), overlong)
        if served:
            trunk = Trunk(self.host, self.base.head, [request.slot for request in requests])
            with grouped(trunk.decoder), self.base.in_use():
                self._serve(trunk, requests, served, results)
        return [[found[m] for m in range(len(found))] for found in results]

    def _serve(
        self,
        trunk: Trunk,
        requests: Sequence[SampleRequest],
        served: set[int],
        results: list[dict[int, Completion]],
    ) -> None:
        prompts = Prompts(trunk, requests, served)
        size = min(self.max_rows, prompts.waiting)
        rows = Rows(requests, self.stop_tokens, size)
        longest = max(len(requests[r].prompt) + requests[r].max_tokens for r in served)
        cache: RowCache | None = None
        while rows.count or prompts.waiting:
            free = size - rows.count
            if free >= min(prompts.waiting, math.ceil(REFILL_SHARE * size)) > 0:
                for admitted in prompts.take(free):
                    if cache is None:
                        cache = RowCache(size, admitted.prefill.kv, int(min(longest, self.context)))
                    self._admit(rows, cache, admitted)
                _close_gaps(rows, cache, results)
            if rows.count and cache is not None:
                logits_BV = trunk.step(
                    torch.from_numpy(rows.last[: rows.count]),
                    torch.from_numpy(rows.length[: rows.count]),
                    cache,
                    [requests[r].slot for r, _ in rows.members],
                )
                rows.length[: rows.count] += 1
                _draw(rows, slice(0, rows.count), logits_BV)
                _close_gaps(rows, cache, results)

    def _admit(self, rows: Rows, cache: RowCache, admitted: Admitted) -> None:
        """Fork prompts to new rows and draw their first tokens."""
        start = rows.count
        places = torch.tensor(admitted.places, device=cache.kv.device)
        cache.admit(start, admitted.prefill.kv, places)
        asked = [rows.requests[r] for r, _ in admitted.members]
        rows.admit(
            admitted.members, [int(min(a.max_tokens, self.context - len(a.prompt))) for a in asked]
        )
        _draw(rows, slice(start, rows.count), admitted.prefill.logits_PV[places])


def _draw(rows: Rows, which: slice, logits_BV: Tensor) -> None:
    device = logits_BV.device
    tokens_B, logprobs_B = draw(
        logits_BV,
        torch.from_numpy(rows.temperature[which]).to(device),
        torch.from_numpy(rows.uniforms(which)).to(device),
    )
    rows.record(which, tokens_B.cpu().numpy(), logprobs_B.cpu().numpy())


def _close_gaps(rows: Rows, cache: RowCache | None, results: list[dict[int, Completion]]) -> None:
    moves = rows.finish(results)
    if len(moves.sources) and cache is not None:
        device = cache.kv.device
        sources = torch.from_numpy(moves.sources).to(device)
        targets = torch.from_numpy(moves.targets).to(device)
        cache.move(sources, targets, int(rows.length[moves.targets].max()))
