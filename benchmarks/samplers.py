"""Four systems that sample completions, behind one face.

All draw from the unchanged distribution at temperature 1 and stop at the model's own end tokens or
at `MAX_TOKENS`. A sampler answers with token counts: each completion's own tokens, its end token
included, never padding.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import torch
from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, GenerationConfig

from swarm import models
from swarm.config.parts import ModelSettings
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.base_model import load_base
from swarm.records import SampleRequest

MODEL = "smollm2-135m-instruct"
#: Few completions of `benchmarks.prompts` reach it.
MAX_TOKENS = 128

Dtype = Literal["float32", "bfloat16"]
Prompts = Sequence[Sequence[int]]


class Sampler(Protocol):
    """Something that samples one completion a prompt."""

    def sample(self, prompts: Prompts, slots: int, seed: int) -> list[int]:
        """Tokens sampled for each prompt, in order, with at most `slots` rows at a time."""
        ...


class Swarm:
    """This trainer's engine."""

    def __init__(self, dtype: Dtype) -> None:
        self.base = load_base(ModelSettings(ref=MODEL, dtype=dtype), "cpu")

    def sample(self, prompts: Prompts, slots: int, seed: int) -> list[int]:
        engine = TorchEngine(self.base.host, self.base.stop_tokens, max_rows=slots)
        requests = [
            SampleRequest(tuple(prompt), (seed * len(prompts) + i,), MAX_TOKENS)
            for i, prompt in enumerate(prompts)
        ]
        return [len(found.tokens) for (found,) in engine.sample(requests)]


class Static:
    """`generate` of transformers: left-padded batches of `slots` rows, each to its longest row.

    `order` is how prompts are put into batches: as they arrive, or by length, which pads least.
    """

    def __init__(
        self,
        dtype: Dtype,
        order: Literal["arrival", "length"],
        attention: str = "sdpa",
        cache: str | None = None,
    ) -> None:
        self.model, self.law = _load(dtype, attention)
        self.law.cache_implementation = cache
        self.order = order

    def sample(self, prompts: Prompts, slots: int, seed: int) -> list[int]:
        torch.manual_seed(seed)
        order = list(range(len(prompts)))
        if self.order == "length":
            order.sort(key=lambda i: len(prompts[i]))
        counts = [0] * len(prompts)
        for start in range(0, len(order), slots):
            rows = order[start : start + slots]
            for i, count in zip(rows, self._batch([prompts[i] for i in rows]), strict=True):
                counts[i] = count
        return counts

    def _batch(self, prompts: Prompts) -> list[int]:
        width = max(len(prompt) for prompt in prompts)
        pad = self.law.pad_token_id
        tokens_BT = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts])
        mask_BT = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
        output_BT = self.model.generate(
            input_ids=tokens_BT, attention_mask=mask_BT, generation_config=self.law
        )
        return [sampled(row, self.law.eos_token_id) for row in output_BT[:, width:].tolist()]


class Continuous:
    """Continuous batching of transformers, which keeps its cache from one call to the next."""

    def __init__(self, dtype: Dtype, attention: str = "sdpa", **settings: Any) -> None:
        self.model, self.law = _load(dtype, attention)
        self.settings = settings
        self.slots = 0

    def sample(self, prompts: Prompts, slots: int, seed: int) -> list[int]:
        if slots != self.slots:
            self.model.destroy_cached_continuous_batching_manager()
            self.slots = slots
        torch.manual_seed(seed)
        found = self.model.generate_batch(
            prompts,
            generation_config=self.law,
            continuous_batching_config=ContinuousBatchingConfig(
                max_requests_per_batch=slots, auto_switch_to_flash=False, **self.settings
            ),
            persistent_manager=True,
            warmup=False,
        )
        failed = [output.error for output in found.values() if output.error is not None]
        if failed or len(found) != len(prompts):
            raise RuntimeError(f"{len(found)} of {len(prompts)} answered; errors: {failed}")
        return [len(output.generated_tokens) for output in found.values()]


def sampled(row: Sequence[int], stops: Sequence[int]) -> int:
    """How many tokens of a padded row were sampled: up to its first end token, that one included.

    Padding is itself an end token here, so the first one ends the count.
    """
    return next((i + 1 for i, token in enumerate(row) if token in stops), len(row))


def _load(dtype: Dtype, attention: str) -> tuple[Any, GenerationConfig]:
    """The model of transformers, and pure sampling at temperature 1 as its generation config."""
    model = AutoModelForCausalLM.from_pretrained(
        models.ensure(MODEL), dtype=getattr(torch, dtype), attn_implementation=attention
    ).eval()
    own = model.generation_config
    law = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        max_new_tokens=MAX_TOKENS,
        eos_token_id=own.eos_token_id,
        pad_token_id=own.pad_token_id,
    )
    return model, law
