"""The model as the engine runs it: tokens in, next-token logits out, each row by its own slot."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from swarm.engine.kv_cache import PromptCache, RowCache
from swarm.policy.lora import AdapterHost
from swarm.policy.mixture import Mixture


class Trunk:
    """A causal language model whose rows use the given slots. Adapters are read when it is made."""

    def __init__(self, host: AdapterHost, head: Any, slots: Iterable[str | None]) -> None:
        """`head` gives logits of hidden states. Raises ValueError naming a slot without an
        adapter."""
        used = sorted({slot for slot in slots if slot is not None})
        for slot in used:
            if not host.holds(slot):
                raise ValueError(f"no adapter is in the slot {slot!r}")
        self.host = host
        self.device = next(host.model.parameters()).device
        self.decoder: Any = host.model.get_decoder()  # type: ignore[operator]
        self.head = head
        self.mixture = Mixture(host, used) if used else None

    def prefill(
        self,
        prompts: Sequence[tuple[int, ...]],
        slots: Sequence[str | None],
        prefix: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Keys and values [L, 2, P, K, W, D] and next-token logits [P, V] of right-padded prompts.

        Each prompt continues its row of `prefix` [L, 2, P, K, _, D], whose keys and values come
        first in the result. Padding is behind every token that counts, so the causal mask is all
        it takes.
        """
        width = max(map(len, prompts))
        before = 0 if prefix is None else prefix.shape[4]
        tokens_PT = torch.tensor([[*p, *[0] * (width - len(p))] for p in prompts])
        positions_PT = torch.arange(before, before + width, device=self.device)
        mask = None
        if prefix is not None:
            unseen_TW = prefix.new_full((width, before + width), -torch.inf).triu_(before + 1)
            mask = unseen_TW[None, None]
        cache = PromptCache(prefix)
        hidden_PTD = self._run(
            tokens_PT.to(self.device), mask, positions_PT.expand(len(prompts), -1), cache, slots
        )
        ends_P = torch.tensor([len(p) - 1 for p in prompts], device=self.device)
        rows_P = torch.arange(len(prompts), device=self.device)
        return cache.stacked(), self.head(hidden_PTD[rows_P, ends_P])

    def step(
        self, tokens_B: Tensor, lengths_B: Tensor, cache: RowCache, slots: Sequence[str | None]
    ) -> Tensor:
        """Next-token logits [B, V] after one more token in each row; `lengths_B` tokens went
        before. Both inputs are on the CPU."""
        columns = int(lengths_B.max()) + 1
        lengths_B = lengths_B.to(self.device)
        cache.begin_step(lengths_B, columns)
        unseen_BW = torch.arange(columns, device=self.device) > lengths_B[:, None]
        mask_BW = torch.zeros(unseen_BW.shape, dtype=cache.kv.dtype, device=self.device)
        mask_BW.masked_fill_(unseen_BW, -torch.inf)
        hidden_B1D = self._run(
            tokens_B.to(self.device)[:, None],
            mask_BW[:, None, None],
            lengths_B[:, None],
            cache,
            slots,
        )
        logits_BV: Tensor = self.head(hidden_B1D[:, 0])
        return logits_BV

    def _run(
        self,
        tokens_BT: Tensor,
        mask: Tensor | None,
        positions_BT: Tensor,
        cache: Cache,
        slots: Sequence[str | None],
    ) -> Tensor:
        if self.mixture is not None:
            self.mixture.assign(slots)
        with self.host.routing.using(mixture=self.mixture):
            output = self.decoder(
                input_ids=tokens_BT,
                attention_mask=mask,
                position_ids=positions_BT,
                past_key_values=cache,
                use_cache=True,
            )
        hidden_BTD: Tensor = output.last_hidden_state
        return hidden_BTD
