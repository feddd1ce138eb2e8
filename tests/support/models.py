"""Small language models with random weights, large enough in scale to have opinions."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from swarm.models.tokenizer import build_tokenizer
from swarm.policy.lora import AdapterHost

VOCABULARY = 24

#: Slots of `host_with_adapters`: their rank and the layers that they adapt.
RANKS = {"a": (4, "all"), "b": (2, "attention"), "c": (7, "mlp")}


def llama(
    vocabulary: int = VOCABULARY,
    seed: int = 0,
    scale: float = 0.2,
    *,
    hidden: int = 32,
    mlp: int = 48,
    tied: bool = False,
    **config: Any,
) -> nn.Module:
    """Two layers, four query heads on two key heads, in eval mode; `config` wins."""
    torch.manual_seed(seed)
    settings = {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "intermediate_size": mlp,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "initializer_range": scale,
        "tie_word_embeddings": tied,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
    return LlamaForCausalLM(LlamaConfig(**(settings | config))).eval()


def gpt2(vocabulary: int = VOCABULARY, seed: int = 0, scale: float = 0.2) -> nn.Module:
    """Two layers, hidden 32, learned positions; dropout is configured and off in eval mode."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        initializer_range=scale,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config).eval()


def save_llama(folder: Path) -> Path:
    """A random Llama with the character tokenizer in `folder`, as `model.ref` takes it."""
    tokenizer = build_tokenizer()
    model = llama(vocabulary=len(tokenizer))
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def host_with_adapters(model: nn.Module) -> AdapterHost:
    """The slots of `RANKS` on a base, different enough for a swapped row to be seen."""
    host = AdapterHost.wrap(model)
    for number, (slot, (rank, targets)) in enumerate(RANKS.items()):
        for pair in host.create(slot, rank, 8.0, targets, seed=number).values():
            pair.b.data.normal_(0, 0.3)
    return host
