"""Adapters in PEFT's format on disk, read into a slot."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from swarm.errors import BadAdapter
from swarm.policy.lora import AdapterHost, Pair

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"

#: Variants of LoRA with a different forward pass.
_OTHER_MATHS = ("use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save")


def find_adapter(folder: Path) -> Path:
    """The adapter's folder: this one, or `adapter/` of a run. Raises BadAdapter."""
    for place in (folder, folder / "adapter"):
        if (place / CONFIG_FILE).is_file() and (place / WEIGHTS_FILE).is_file():
            return place
    raise BadAdapter(
        folder, f"holds no {CONFIG_FILE}", "give a LoRA adapter, or a run that made one"
    )


def load_adapter(host: AdapterHost, folder: Path, slot: str) -> None:
    """Put the LoRA adapter in `folder` on `slot` of the base. Raises BadAdapter where it uses
    another forward pass, or does not fit this base."""
    settings, scale, tensors = _read(folder)
    used = [name for name in _OTHER_MATHS if settings.get(name)]
    if used or settings.get("peft_type", "LORA") != "LORA":
        raise BadAdapter(folder, f"uses {used or settings['peft_type']}", "plain LoRA can be run")
    names = {key.rpartition(".lora_")[0] for key in tensors}
    for name in sorted(names):
        layer = host.layers.get(name.removeprefix("base_model.model."))
        if layer is None:
            raise BadAdapter(folder, f"adapts {name}, which this base has not", "take its own base")
        a, b = (tensors.get(f"{name}.lora_{x}.weight") for x in "AB")
        if a is None or b is None:
            raise BadAdapter(folder, f"holds half a pair at {name}", "export it again")
        if (a.shape[1], b.shape[0]) != (layer.base.in_features, layer.base.out_features):
            raise BadAdapter(folder, f"has another shape at {name}", "take its own base")
        where = layer.base.weight.device
        layer.pairs[slot] = Pair(
            nn.Parameter(a.float().to(where)), nn.Parameter(b.float().to(where)), scale
        )


def _read(folder: Path) -> tuple[dict[str, Any], float, dict[str, Tensor]]:
    """An adapter's settings, its scale and its tensors. Raises BadAdapter for broken files."""
    try:
        settings: dict[str, Any] = json.loads((folder / CONFIG_FILE).read_bytes())
        return (
            settings,
            settings["lora_alpha"] / settings["r"],
            load_file(folder / WEIGHTS_FILE),
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError, SafetensorError) as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
        raise BadAdapter(folder, problem, "export it again") from None
