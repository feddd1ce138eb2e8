"""A base model and its tokenizer, ready to host adapters."""

from dataclasses import dataclass

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from swarm import models
from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable, Refusal
from swarm.policy.lora import AdapterHost

#: Settings that change the logits after the LM head; sampler and learner call the head alone.
_OTHER_HEADS = ("final_logit_softcapping", "logit_scale", "logits_scaling", "logit_softcapping")


@dataclass(frozen=True)
class Base:
    """A loaded base model. `stop_tokens` are all ids that end a completion."""

    host: AdapterHost
    tokenizer: PreTrainedTokenizerBase
    stop_tokens: frozenset[int]
    device: torch.device


def load_base(settings: ModelSettings, device: str) -> Base:
    """Load a base in eval mode (no dropout). Raises ModelUnavailable when `settings.ref` leads to
    no model or to one that transformers cannot read, Refusal for a device that is not there."""
    where = torch.device(usable_device(device))
    folder = models.ensure(settings.ref)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, settings.dtype), trust_remote_code=False
        )
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # transformers names no class of errors for a broken folder
        raise ModelUnavailable(
            f"transformers cannot read {settings.ref!r} in {folder}",
            next(iter(str(error).strip().splitlines()), "no message"),
        ) from error
    other = [name for name in _OTHER_HEADS if getattr(model.config, name, None) not in (None, 1)]
    if other:
        raise ModelUnavailable(
            f"{settings.ref!r} has {other[0]} in its config.json",
            "take a model whose logits are its LM head's output as it is",
        )
    model.to(where).eval()
    stops = _stop_tokens(settings.ref, model.generation_config.eos_token_id)
    return Base(AdapterHost.wrap(model), tokenizer, stops, where)


def _stop_tokens(ref: str, ends: int | list[int] | None) -> frozenset[int]:
    if ends is None:
        raise ModelUnavailable(
            f"{ref!r} names no end-of-sequence token", "set eos_token_id in its config.json"
        )
    return frozenset([ends] if isinstance(ends, int) else ends)


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
