"""A quantised GGUF file as an fp32 model folder in Hugging Face format."""

from pathlib import Path

import torch
from gguf import GGUFReader
from tokenizers import pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedTokenizerBase,
)

from swarm.disk.folder import take_usual_modes

#: Ids of these end a completion: the chat template's end of turn, and pretraining's end of text.
END_TOKENS = ("<|im_end|>", "<|endoftext|>")


def convert(gguf: Path, folder: Path) -> None:
    """Write weights, config, tokenizer and chat template of a Llama-like `gguf` into `folder`."""
    tokenizer = _tokenizer(gguf)
    quantised = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32
    )
    config = quantised.config
    # A model that is marked as quantised refuses to be saved; its tensors are plain fp32 by now.
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(quantised.state_dict())
    known = tokenizer.get_vocab()
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=[known[token] for token in END_TOKENS if token in known],
        pad_token_id=tokenizer.pad_token_id,
    )
    tokenizer.model_max_length = config.max_position_embeddings
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    take_usual_modes(folder)


def _tokenizer(gguf: Path) -> PreTrainedTokenizerBase:
    """The file's tokenizer, with the pre-tokenizer that the file names.

    transformers drops `tokenizer.ggml.pre`. `smollm` splits single digits off before anything
    else (llama.cpp, LLAMA_VOCAB_PRE_TYPE_SMOLLM); without that, blanks before a digit are cut
    into other tokens than the model was trained on.
    """
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    field = GGUFReader(gguf).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() == "smollm":
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    return tokenizer
