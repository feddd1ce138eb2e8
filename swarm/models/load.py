"""A base model and its tokenizer, ready to host adapters."""

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from swarm.config import ModelSettings
from swarm.models import tiny
from swarm.policy.lora import AdapterHost


@dataclass(frozen=True)
class Base:
    """A loaded base model. `stop_tokens` are all ids that end a completion."""

    host: AdapterHost
    tokenizer: PreTrainedTokenizerBase
    stop_tokens: frozenset[int]
    device: torch.device


def load_base(settings: ModelSettings, device: str) -> Base:
    """Load a base in eval mode (no dropout). Raises FileNotFoundError that says how to get it."""
    where = torch.device(_device(device))
    path = str(tiny.ensure()) if settings.ref == tiny.NAME else settings.ref
    if settings.ref != tiny.NAME and not Path(path).exists():
        raise FileNotFoundError(f"model.ref {path!r} is neither {tiny.NAME!r} nor a local folder")
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, settings.dtype))
    model.to(where).eval()
    stops = model.generation_config.eos_token_id
    stop_tokens = frozenset([stops] if isinstance(stops, int) else stops)
    return Base(AdapterHost.wrap(model), tokenizer, stop_tokens, where)


def _device(device: str) -> str:
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device
