"""Small language models with random weights, large enough in scale to have opinions."""

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

VOCABULARY = 24


def llama(vocabulary: int = VOCABULARY, seed: int = 0, scale: float = 0.2) -> nn.Module:
    """Two layers, hidden 32, four query heads on two key heads, untied head, in eval mode."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=scale,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


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
