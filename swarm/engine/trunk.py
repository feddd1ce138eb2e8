"""The model as the engine runs it: tokens in, next-token logits out, each row by its own slot."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from swarm.engine.grouped_attention import Visible
from swarm.engine.kv_cache import PromptCache, RowCache
from swarm.models.architectures import logit_scale, window
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
        self._head = head
        self._scale = logit_scale(host.model.config)
        self.window = window(self.decoder.config)
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
        visible = None
        if prefix is not None or (self.window is not None and before + width > self.window):
            dtype = next(self.host.model.parameters()).dtype
            visible = Visible(positions_PT[None], before + width, dtype)
        cache = PromptCache(prefix)
        hidden_PTD = self._run(
            tokens_PT.to(self.device), visible, positions_PT.expand(len(prompts), -1), cache, slots
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
        hidden_B1D = self._run(
            tokens_B.to(self.device)[:, None],
            Visible(lengths_B[:, None], columns, cache.kv.dtype),
            lengths_B[:, None],
            cache,
            slots,
        )
        return self.head(hidden_B1D[:, 0])

    def head(self, hidden_BD: Tensor) -> Tensor:
        """Logits [B, V] of hidden states, scaled where the model scales them."""
        logits_BV: Tensor = self._head(hidden_BD)
        return logits_BV if self._scale == 1 else logits_BV * self._scale

    def _run(
        self,
        tokens_BT: Tensor,
        visible: Visible | None,
        positions_BT: Tensor,
        cache: Cache,
        slots: Sequence[str | None],
    ) -> Tensor:
        if self.mixture is not None:
            self.mixture.assign(slots)
        with self.host.routing.using(mixture=self.mixture):
            output = self.decoder(
                input_ids=tokens_BT,
                attention_mask=None if visible is None else visible.within(),
                position_ids=positions_BT,
                past_key_values=cache,
                use_cache=True,
                visible=visible,
            )
        hidden_BTD: Tensor = output.last_hidden_state
        return hidden_BTD
