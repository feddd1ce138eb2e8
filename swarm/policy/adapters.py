"""Adapters in PEFT's format on disk: written from a policy, read into a slot."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from swarm.config.parts import ModelSettings, PolicySettings
from swarm.errors import BadAdapter
from swarm.policy.lora import AdapterHost, Pair
from swarm.policy.policy import Policy

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
        if (b.shape[0], a.shape[1]) != layer.base_weight.shape:
            raise BadAdapter(folder, f"has another shape at {name}", "take its own base")
        where = layer.base.weight.device
        layer.pairs[slot] = Pair(
            nn.Parameter(a.float().to(where)), nn.Parameter(b.float().to(where)), scale
        )


def export(policy: Policy, model: ModelSettings, settings: PolicySettings, folder: Path) -> None:
    """Write an adapter in PEFT's layout (`PeftModel.from_pretrained` and vLLM read it), or all
    weights in transformers' layout."""
    folder.mkdir(parents=True, exist_ok=True)
    if settings.kind == "full":
        state = policy.host.base_state_dict()
        policy.host.model.save_pretrained(folder, state_dict=state)  # type: ignore[operator]
        return
    from peft import LoraConfig

    tensors = {
        f"base_model.model.{path}.{name}.weight": parameter.detach().cpu().contiguous()
        for path, pair in policy.pairs.items()
        for name, parameter in (("lora_A", pair.a), ("lora_B", pair.b))
    }
    save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules=policy.host.target_names(list(policy.pairs)),
        fan_in_fan_out=any(isinstance(policy.host.layers[p].base, Conv1D) for p in policy.pairs),
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
        base_model_name_or_path=model.ref,
        inference_mode=True,
    ).save_pretrained(folder)


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
