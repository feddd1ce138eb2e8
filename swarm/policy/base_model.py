"""A base model and its tokenizer, ready to host adapters."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerBase,
)

from swarm import models
from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable, Refusal
from swarm.models.architectures import check_proven, limit
from swarm.models.ends import Ends, ends_of
from swarm.policy.lora import AdapterHost
from swarm.records import Limit


@dataclass(frozen=True)
class Base:
    """A loaded base model. `limit` is the longest row that it takes."""

    host: AdapterHost
    tokenizer: PreTrainedTokenizerBase
    ends: Ends
    limit: Limit
    device: torch.device

    @property
    def stop_tokens(self) -> frozenset[int]:
        """All ids that end a completion."""
        return self.ends.stops


def load_base(settings: ModelSettings, device: str) -> Base:
    """Load a base in eval mode (no dropout). Raises ModelUnavailable when `settings.ref` leads to
    no model, to one that transformers cannot read, or to one that is not proven here
    (`swarm.models.architectures`), Refusal for a device that is not there."""
    where = torch.device(usable_device(device))
    folder = models.ensure(settings.ref)
    config = _read(settings.ref, folder, AutoConfig.from_pretrained)
    check_proven(settings.ref, config)
    tokenizer = _read(settings.ref, folder, AutoTokenizer.from_pretrained)
    dtype = getattr(torch, settings.dtype)
    model = _read(settings.ref, folder, AutoModelForCausalLM.from_pretrained, dtype=dtype)
    model.to(where).eval()
    ends = ends_of(settings.ref, tokenizer, model.generation_config.eos_token_id)
    return Base(AdapterHost.wrap(model), tokenizer, ends, limit(config), where)


def _read(ref: str, folder: Path, read: Callable[..., Any], **options: Any) -> Any:
    """What transformers makes of a model's folder. Raises ModelUnavailable."""
    try:
        return read(folder, trust_remote_code=False, **options)
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # transformers names no class of errors for a broken folder
        raise ModelUnavailable(
            f"transformers cannot read {ref!r} in {folder}",
            next(iter(str(error).strip().splitlines()), "no message"),
        ) from error


def usable_device(device: str) -> str:
    """`cpu` or `cuda`, of a setting that may be `auto`. Raises Refusal for CUDA that is not there:
    no such device, or a torch that was built without it."""
    if device == "cuda" and not torch.cuda.is_available():
        raise Refusal(
            "device",
            "cuda is not there: torch finds no CUDA device",
            "take auto or cpu, or install a torch built for CUDA",
        )
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device
