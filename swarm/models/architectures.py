"""The architectures that are proven here: the one table, and how it is read. No torch.

`tests/swarm/models/test_architectures.py` holds each of them, at a small size with random weights,
against plain transformers: log-probabilities of learner and engine, gradients, and adapters in
PEFT, on rows longer than the window and the original rope length of its config. What is not in
the table is refused when it is loaded.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from swarm.errors import ModelUnavailable, closest
from swarm.records import Limit


@dataclass(frozen=True)
class Architecture:
    """What is proven of one `model_type`, and what it needs beside its LM head.

    `windows`: layers that see a window of tokens back. `experts`: a mixture of experts, whose
    stacked weights take no adapter. `multiplies` and `divides` name the setting by which it scales
    the logits.
    """

    windows: bool = False
    experts: bool = False
    multiplies: str | None = None
    divides: str | None = None


#: By `model_type` of config.json.
PROVEN: Mapping[str, Architecture] = MappingProxyType(
    {
        "apertus": Architecture(),
        "arcee": Architecture(),
        "biogpt": Architecture(),
        "cohere": Architecture(multiplies="logit_scale"),
        "cohere2": Architecture(windows=True, multiplies="logit_scale"),
        "ernie4_5": Architecture(),
        "exaone4": Architecture(windows=True),
        "flex_olmo": Architecture(experts=True),
        "gemma": Architecture(),
        "gemma3_text": Architecture(windows=True),
        "glm": Architecture(),
        "glm4": Architecture(),
        "gpt2": Architecture(),
        "gpt_bigcode": Architecture(),
        "gpt_neox": Architecture(),
        "granite": Architecture(divides="logits_scaling"),
        "granitemoe": Architecture(experts=True, divides="logits_scaling"),
        "helium": Architecture(),
        "hunyuan_v1_dense": Architecture(),
        "hyperclovax": Architecture(),
        "jais2": Architecture(),
        "llama": Architecture(),
        "ministral": Architecture(windows=True),
        "ministral3": Architecture(),
        "mistral": Architecture(windows=True),
        "mixtral": Architecture(windows=True, experts=True),
        "olmo": Architecture(),
        "olmo2": Architecture(),
        "olmo3": Architecture(windows=True),
        "olmoe": Architecture(experts=True),
        "opt": Architecture(),
        "persimmon": Architecture(),
        "phi": Architecture(),
        "phi3": Architecture(windows=True),
        "qwen2": Architecture(windows=True),
        "qwen2_moe": Architecture(experts=True),
        "qwen3": Architecture(windows=True),
        "qwen3_moe": Architecture(experts=True),
        "seed_oss": Architecture(),
        "smollm3": Architecture(),
        "starcoder2": Architecture(windows=True),
    }
)

#: Rope whose frequencies are the same whatever the row.
STEADY_ROPES = frozenset({"default", "linear", "llama3", "yarn"})

#: Rope that changes for all tokens of a batch once its longest row exceeds a length.
CHANGING_ROPES = frozenset({"dynamic", "longrope"})

#: Settings that change what is computed in a way that neither learner nor engine does.
OTHER_MATHS = ("final_logit_softcapping", "attn_logit_softcapping", "logit_softcapping")


def check_proven(ref: str, config: Any) -> Architecture:
    """The entry of a config. Raises ModelUnavailable for one that is not proven here."""
    kind = str(config.model_type)
    if kind not in PROVEN:
        near = closest(kind, PROVEN)
        raise ModelUnavailable(
            f"{ref!r} is of the architecture {kind!r}, which is not proven to train exactly here",
            f"take one of {', '.join(near or sorted(PROVEN))} (docs/models.md)",
        )
    architecture = PROVEN[kind]
    for name in OTHER_MATHS:
        if getattr(config, name, None) is not None:
            raise ModelUnavailable(
                f"{ref!r} has {name} in its config.json",
                "take a model whose attention and logits are not capped",
            )
    for scale in {"logit_scale", "logits_scaling"} - {
        architecture.multiplies,
        architecture.divides,
    }:
        if getattr(config, scale, None) not in (None, 1):
            raise ModelUnavailable(
                f"{ref!r} has {scale} in its config.json",
                "take a model whose logits are its LM head's output as it is",
            )
    unknown = set(getattr(config, "layer_types", None) or ()) - {
        "full_attention",
        "sliding_attention",
    }
    if unknown:
        raise ModelUnavailable(
            f"{ref!r} has layers of {', '.join(sorted(unknown))}",
            "take a model whose layers attend to everything before, or to a window of it",
        )
    for rope, _ in _ropes(config):
        if rope not in STEADY_ROPES | CHANGING_ROPES:
            raise ModelUnavailable(
                f"{ref!r} has the rope {rope!r} in its config.json",
                f"take a model of {', '.join(sorted(STEADY_ROPES | CHANGING_ROPES))}",
            )
    return architecture


def logit_scale(config: Any) -> float:
    """What the LM head's output is multiplied by before the softmax."""
    architecture = PROVEN.get(str(getattr(config, "model_type", "")), Architecture())
    if architecture.multiplies:
        return float(getattr(config, architecture.multiplies))
    if architecture.divides:
        return 1 / float(getattr(config, architecture.divides))
    return 1.0


def limit(config: Any) -> Limit:
    """How long a row may be: as many as there are positions, and where a rope changes with the
    longest row of a batch, as long as it does not."""
    positions = getattr(config, "max_position_embeddings", None) or math.inf
    for rope, settings in _ropes(config):
        if rope == "longrope":
            original = settings.get("original_max_position_embeddings")
            if original is None:
                original = getattr(config, "original_max_position_embeddings", None) or positions
            if float(original) < positions:
                return Limit(
                    float(original), "beyond that its longrope changes with the longest row"
                )
        if rope == "dynamic":
            return Limit(positions, "beyond that its dynamic rope changes with the longest row")
    return Limit(positions)


def window(config: Any) -> int | None:
    """How many tokens back the layers with a window see; None where there is no such layer."""
    kinds = getattr(config, "layer_types", None)
    size = getattr(config, "sliding_window", None)
    if size is None or (kinds and "sliding_attention" not in kinds):
        return None
    if not kinds and getattr(config, "use_sliding_window", True) is False:
        return None
    return int(size)


def original_length(config: Any) -> int | None:
    """The row length that a stretched rope was trained at, where the config names one."""
    lengths = [
        settings["original_max_position_embeddings"]
        for _, settings in _ropes(config)
        if settings.get("original_max_position_embeddings")
    ]
    return max(map(int, lengths), default=None)


def _ropes(config: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The ropes of a config: one, or one for each kind of layer."""
    found = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in found.values() if isinstance(value, Mapping)]
    for settings in nested or ([found] if found else []):
        yield str(settings.get("rope_type", "default")), settings
