"""Small models of every architecture, and how far learner, engine and adapters are from PEFT on
plain transformers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.forward import trained_logprobs
from swarm.models.tokenizer import build_tokenizer
from swarm.policy.adapters import export
from swarm.policy.base_model import Base, load_base
from swarm.policy.policy import Policy
from swarm.records import SampleRequest, TokenTree, action_node, context_node

#: Rows are longer than the window and than the original rope length, shorter than the positions.
WINDOW, ORIGINAL, POSITIONS = 16, 24, 96
SHORT, LONG, ANSWER = 7, 50, 6

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": ORIGINAL}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": ORIGINAL,
}
LINEAR = {"rope_type": "linear", "factor": 4.0}

_COMMON: Mapping[str, Any] = MappingProxyType(
    {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.2,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
)
_MIXED = ["sliding_attention", "full_attention"]
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}


def rope(theta: float = 10000.0, **settings: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_theta": theta, **settings}}


#: What each architecture is built with beside `_COMMON`.
CONFIGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "llama": rope(**LLAMA3),
        "mistral": {"sliding_window": WINDOW},
        "ministral": {"sliding_window": WINDOW, "layer_types": _MIXED},
        "ministral3": rope(**YARN, llama_4_scaling_beta=0.1),
        "qwen2": {
            "use_sliding_window": True,
            "sliding_window": WINDOW,
            "layer_types": _MIXED,
            **rope(**YARN),
        },
        "qwen3": {"use_sliding_window": True, "sliding_window": WINDOW, "layer_types": _MIXED},
        "qwen2_moe": {**_EXPERTS, "shared_expert_intermediate_size": 24},
        "qwen3_moe": _EXPERTS,
        "mixtral": {"num_local_experts": 4, "sliding_window": WINDOW},
        "olmoe": {"num_experts": 4, "num_experts_per_tok": 2},
        "granitemoe": {"num_local_experts": 4, "num_experts_per_tok": 2, "logits_scaling": 4.0},
        "gemma": {},
        "gemma2": {"sliding_window": WINDOW, "layer_types": _MIXED},
        "gemma3_text": {
            "sliding_window": WINDOW,
            "layer_types": _MIXED,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
            },
        },
        "phi": rope(**LINEAR, partial_rotary_factor=0.5),
        "phi3": {"sliding_window": WINDOW},
        "phimoe": {"num_local_experts": 4, "sliding_window": WINDOW},
        "olmo": {"clip_qkv": 1.0},
        "olmo2": rope(**YARN),
        "olmo3": {"sliding_window": WINDOW, "layer_types": _MIXED, **rope(**YARN)},
        "flex_olmo": {"num_experts": 4, "num_experts_per_tok": 2},
        "granite": {
            "logits_scaling": 4.0,
            "residual_multiplier": 0.5,
            "attention_multiplier": 0.3,
            "embedding_multiplier": 2.0,
        },
        "stablelm": {"use_qkv_bias": True},
        "starcoder2": {"sliding_window": WINDOW},
        "gpt2": {"n_positions": POSITIONS},
        "gpt_bigcode": {"n_positions": POSITIONS},
        "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": WINDOW},
        "gpt_neox": rope(**LINEAR),
        "gptj": {"n_positions": POSITIONS, "rotary_dim": 4},
        "codegen": {"n_positions": POSITIONS, "rotary_dim": 4},
        "bloom": {},
        "mpt": {},
        "opt": {"ffn_dim": 48, "word_embed_proj_dim": 32},
        "smollm3": {"no_rope_layers": [1, 0], **rope(**YARN)},
        "glm": {"partial_rotary_factor": 0.5},
        "glm4": {"partial_rotary_factor": 0.5},
        "glm4_moe": {**_EXPERTS, "n_routed_experts": 4, "first_k_dense_replace": 1},
        "cohere": {"logit_scale": 0.25, "use_qk_norm": True},
        "cohere2": {"logit_scale": 0.25, "sliding_window": WINDOW, "layer_types": _MIXED},
        "nemotron": {"partial_rotary_factor": 0.5},
        "falcon": {"multi_query": True, "new_decoder_architecture": False, "alibi": False},
        "exaone4": {"sliding_window": WINDOW, "layer_types": _MIXED, **rope(**LLAMA3)},
        "helium": {},
        "ernie4_5": {},
        "ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 24},
        "seed_oss": {},
        "arcee": rope(**YARN),
        "apertus": rope(**LLAMA3),
        "hunyuan_v1_dense": {},
        "persimmon": {},
        "nanochat": {},
        "bitnet": {},
        "diffllama": {},
        "doge": {"sliding_window": WINDOW},
        "gpt_oss": {"num_local_experts": 4, "sliding_window": WINDOW, "layer_types": _MIXED},
        "cwm": {"sliding_window": WINDOW, "layer_types": _MIXED},
        "dots1": {**_EXPERTS, "n_routed_experts": 4, "first_k_dense_replace": 1},
        "minimax_m2": {"num_local_experts": 4, "num_experts_per_tok": 2},
        "jais2": {},
        "hyperclovax": {},
        "granite_swa": {"sliding_window": WINDOW, "layer_types": _MIXED},
        "mellum": {"sliding_window": WINDOW},
        "youtu": {},
        "minicpm3": {},
        "biogpt": {},
        "xglm": {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 4},
        "falcon_h1": {},
    }
)


def build(model_type: str, seed: int = 0, **settings: Any) -> nn.Module:
    """A random model in eval mode; `settings` win."""
    values = {**_COMMON, **CONFIGS.get(model_type, {}), **settings}
    config = AutoConfig.for_model(model_type, vocab_size=len(build_tokenizer()), **values)
    torch.manual_seed(seed)
    model: nn.Module = AutoModelForCausalLM.from_config(config).eval()
    for name, parameter in model.named_parameters():  # norms and biases start at 1 and 0
        if parameter.ndim == 1 and "norm" not in name:
            nn.init.normal_(parameter, 0.0, 0.1)
        elif parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def save(model: Any, folder: Path) -> Path:
    """As `model.ref` takes it, with the character tokenizer."""
    model.generation_config = GenerationConfig(eos_token_id=1, pad_token_id=0)
    model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class Gaps:
    """Largest differences to PEFT on plain transformers: log-probabilities of learner and engine,
    gradients of the adapter relative to its largest, and how far the adapter moves the former."""

    learner: float
    gradients: float
    engine: float
    moved: float
    adapted: float


def rows() -> list[tuple[int, ...]]:
    """Tokens of a short and a long row."""
    rng = np.random.default_rng(0)
    size = len(build_tokenizer())
    return [tuple(int(t) for t in rng.integers(3, size, n)) for n in (SHORT, LONG)]


def gaps(folder: Path, targets: str = "all") -> Gaps:
    """Load the model in `folder` both ways, with one adapter, and compare."""
    settings, model_settings = (
        PolicySettings(targets=targets, rank=4),
        ModelSettings(ref=str(folder)),
    )  # type: ignore[arg-type]
    base = load_base(model_settings, "cpu")
    policy = Policy(base.host, settings, OptimSettings(), seed=1)
    rng = torch.Generator().manual_seed(5)
    for pair in policy.pairs.values():
        pair.b.data = torch.randn(pair.b.shape, generator=rng) * 0.1
    export(policy, model_settings, settings, folder / "adapter")
    plain = AutoModelForCausalLM.from_pretrained(folder)
    bare = [_plain(plain, row).detach() for row in rows()]
    peft = PeftModel.from_pretrained(plain, folder / "adapter", is_trainable=True).eval()
    truth = [_plain(peft, row) for row in rows()]
    sum((part * _slopes(part)).sum() for part in truth).backward()  # type: ignore[union-attr]
    named = {
        name.replace(".default", "").removeprefix("base_model.model."): p
        for name, p in peft.named_parameters()
        if "lora_" in name
    }
    trees = [TokenTree((context_node(row[:1]), action_node(row[1:], 0))) for row in rows()]
    with policy.active():
        learned = trained_logprobs(base.host.model, trees, 1.0).logprobs
    (learned * torch.cat([_slopes(part) for part in truth])).sum().backward()
    off, largest = 0.0, 0.0
    assert {f"{p}.lora_{x}.weight" for p in policy.pairs for x in "AB"} == set(named)
    for path, pair in policy.pairs.items():
        for name, own in (("lora_A", pair.a), ("lora_B", pair.b)):
            other = named[f"{path}.{name}.weight"].grad
            assert own.grad is not None, f"{path} trains nothing"
            assert other is not None, f"{path} trains nothing in PEFT"
            off = max(off, float((own.grad - other).abs().max()))
            largest = max(largest, float(other.abs().max()))
            assert float(own.grad.abs().max()) > 0, f"{path}.{name} has no gradient"
    return Gaps(
        float((learned - torch.cat(truth)).abs().max()),
        off / largest,
        _engine_gap(base, policy, plain, peft),
        max(float((a - b).abs().max()) for a, b in zip(truth, bare, strict=True)),
        base.host.coverage(targets).share,
    )


@torch.no_grad()
def _engine_gap(base: Base, policy: Policy, plain: Any, peft: Any) -> float:
    """Rows of the adapter and of the bare base in one batch, more than fit at once."""
    asked = [
        SampleRequest(row, (1, 2), ANSWER, slot=slot)
        for row in rows()
        for slot in (policy.adapter, None)
    ]
    found = TorchEngine(base.host, frozenset(), max_rows=5).sample(asked)
    worst = 0.0
    for request, completions in zip(asked, found, strict=True):
        for completion in completions:
            whole = (*request.prompt, *completion.tokens)
            if request.slot is None:
                with peft.disable_adapter():
                    truth = _plain(peft, whole)
            else:
                truth = _plain(peft, whole)
            gap = truth[len(request.prompt) - 1 :] - torch.tensor(completion.logprobs)
            worst = max(worst, float(gap.abs().max()))
    return worst


def _plain(model: Any, row: tuple[int, ...]) -> Tensor:
    ids = torch.tensor([row])
    logits = model(input_ids=ids, use_cache=False).logits[0, :-1].float()
    found: Tensor = logits.log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
    return found


def _slopes(part: Tensor) -> Tensor:
    return torch.linspace(-1, 1, len(part))
