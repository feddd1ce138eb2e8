"""What PEFT's `adapter_config.json` says of a LoRA adapter's forward pass."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm.errors import BadAdapter

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"

#: Settings that change nothing in the forward pass of a saved adapter, or are read here. Any other
#: that is set is refused: it may stand for mathematics that nobody here knows.
_UNDERSTOOD = frozenset(
    (
        *("peft_type", "peft_version", "task_type", "auto_mapping", "inference_mode"),
        *("base_model_name_or_path", "revision", "runtime_config", "lora_dropout"),
        *("target_modules", "exclude_modules", "layers_to_transform", "layers_pattern"),
        *("r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern", "bias"),
        *("fan_in_fan_out", "init_lora_weights", "eva_config", "qalora_group_size"),
        *("megatron_core", "ensure_weight_tying"),
    )
)

#: Initialisations that leave the base as it is. PiSSA, OLoRA, CorDA and LoftQ take a part of it.
_INITIAL = (True, False, None, "gaussian", "eva", "orthogonal")


@dataclass(frozen=True)
class AdapterConfig:
    """Plain LoRA: W + scale B A, where the scale is alpha / r, or alpha / sqrt(r) with `rslora`
    (Kalajdzievski 2023, arXiv:2312.03732). The patterns hold ranks and alphas of single layers."""

    rank: int
    alpha: float
    rslora: bool
    ranks: Mapping[str, int]
    alphas: Mapping[str, float]

    @property
    def patterned(self) -> str:
        """The first setting by which a scale is not alpha over rank of the whole adapter, or ""."""
        named = {
            "use_rslora": self.rslora,
            "rank_pattern": self.ranks,
            "alpha_pattern": self.alphas,
        }
        return next((name for name, used in named.items() if used), "")

    def rank_at(self, path: str) -> int:
        """The rank at a module's path."""
        return self.ranks.get(_pattern(self.ranks, path), self.rank)

    def scale_at(self, path: str) -> float:
        """The factor of B A at a module's path."""
        alpha, rank = self.alphas.get(_pattern(self.alphas, path), self.alpha), self.rank_at(path)
        return alpha / (math.sqrt(rank) if self.rslora else rank)


def read_adapter_config(folder: Path, field: str = "adapter") -> AdapterConfig:
    """The config of the adapter in `folder`. Raises BadAdapter where it is broken, and where it
    says anything that would change the forward pass beyond `AdapterConfig`."""
    try:
        raw: dict[str, Any] = json.loads((folder / CONFIG_FILE).read_bytes())
        other = _not_understood(raw)
        config = AdapterConfig(
            int(raw["r"]),
            float(raw["lora_alpha"]),
            bool(raw.get("use_rslora")),
            {str(key): int(rank) for key, rank in (raw.get("rank_pattern") or {}).items()},
            {str(key): float(alpha) for key, alpha in (raw.get("alpha_pattern") or {}).items()},
        )
        if min([config.rank, *config.ranks.values()]) < 1:
            raise ValueError("a rank below 1")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
        raise BadAdapter(folder, problem, "export it again", field) from None
    if other:
        next_step = "give plain LoRA (rslora, rank and alpha patterns are read), or merge it"
        raise BadAdapter(folder, f"uses {other}", next_step, field)
    return config


def _not_understood(raw: Mapping[str, Any]) -> str:
    """The first setting that says more than plain LoRA, with its value."""
    if raw.get("peft_type", "LORA") != "LORA":
        return f"peft_type {raw['peft_type']}"
    if raw.get("bias", "none") != "none":
        return f"bias {raw['bias']!r}"
    if raw.get("init_lora_weights") not in _INITIAL:
        return f"init_lora_weights {raw['init_lora_weights']!r}"
    return next((name for name in sorted(raw) if raw[name] and name not in _UNDERSTOOD), "")


def _pattern(patterns: Mapping[str, Any], path: str) -> str:
    """The key that a module's path matches, by PEFT's rule (`peft.utils.other.get_pattern_key`)."""
    return next((key for key in patterns if re.match(rf"(.*\.)?({key})$", path)), path)
