"""Weights on disk: written from a policy, read into a slot or into the base."""

import json
import re
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase
from transformers.pytorch_utils import Conv1D

from swarm import models
from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.disk.folder import take_usual_modes
from swarm.errors import BadAdapter
from swarm.models.sources import weight_files
from swarm.policy.adapter_config import CONFIG_FILE, WEIGHTS_FILE, read_adapter_config
from swarm.policy.lora import AdapterHost, Pair
from swarm.policy.policy import Policy
from swarm.policy.saved_weights import find_weights

#: How PEFT names the matrices of a layer.
_MATRIX = re.compile(r"base_model\.model\.(.+)\.lora_([AB])\.weight")


def load_adapter(host: AdapterHost, folder: Path, slot: str) -> None:
    """Put the LoRA adapter in `folder` on `slot` of the base. Raises BadAdapter where it uses
    another forward pass, holds anything that would not be read, or does not fit this base."""
    for path, pair in _read_pairs(host, folder, "adapter").items():
        host.layers[path].pairs[slot] = pair


def start_from_adapter(policy: Policy, folder: Path) -> None:
    """Have the policy's adapter be the one in `folder`. Raises BadAdapter where that does not fit
    the base or adapts other layers than the policy does."""
    field = "policy.start"
    pairs = _read_pairs(policy.host, folder, field)
    if odd := sorted(pairs.keys() ^ policy.pairs.keys()):
        verb = "adapts" if odd[0] in pairs else "does not adapt"
        problem = f"{verb} {odd[0]}, other than policy.targets {policy.settings.targets}"
        raise BadAdapter(folder, problem, "set policy.targets to what it was made with", field)
    for path, pair in pairs.items():
        own = policy.pairs[path]
        own.a.data.copy_(pair.a.data)
        own.b.data.copy_(pair.b.data)


def started(host: AdapterHost, settings: PolicySettings, optim: OptimSettings, seed: int) -> Policy:
    """A run's policy, with the weights of `policy.start` where it names some. Raises BadAdapter."""
    field = "policy.start"
    start = find_weights(Path(settings.start), field).folder if settings.start else None
    if start is not None and settings.kind == "full":
        load_weights(host, start, field)
    policy = Policy(host, settings, optim, seed)
    if start is not None and settings.kind == "lora":
        start_from_adapter(policy, start)
    return policy


def load_weights(host: AdapterHost, folder: Path, field: str = "adapter") -> None:
    """Have the base compute with all weights in `folder`. Raises BadAdapter where these are not
    exactly those of this base."""
    own = host.base_state_dict()
    read: set[int] = set()
    for file in weight_files(folder):
        for name, tensor in _tensors(folder, file, field).items():
            if name not in own or own[name].shape != tensor.shape:
                problem = f"holds {name} {list(tensor.shape)}, which this base has not"
                raise BadAdapter(folder, problem, "take its own base", field)
            own[name].copy_(tensor)
            read.add(own[name].data_ptr())
    gap = next((name for name, tensor in own.items() if tensor.data_ptr() not in read), None)
    if gap is not None:  # tied weights are saved once
        raise BadAdapter(folder, f"lacks {gap} of this base", "take its own base", field)


def export(
    policy: Policy,
    model: ModelSettings,
    settings: PolicySettings,
    folder: Path,
    tokenizer: PreTrainedTokenizerBase | None = None,
) -> None:
    """Write an adapter in PEFT's layout (`PeftModel.from_pretrained` and vLLM read it), or all
    weights in transformers' layout, with `tokenizer` beside them as `model.ref` takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    if settings.kind == "full":
        state = policy.host.base_state_dict()
        policy.host.model.save_pretrained(folder, state_dict=state)  # type: ignore[operator]
        if tokenizer is not None:
            tokenizer.save_pretrained(folder)
        take_usual_modes(folder)
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
        base_model_name_or_path=models.loadable(model.ref),
        inference_mode=True,
    ).save_pretrained(folder)
    _in_order(folder / CONFIG_FILE)
    take_usual_modes(folder)


def _in_order(file: Path) -> None:
    """PEFT writes a set in the order of the process's hash seed; equal runs leave equal files."""
    config = json.loads(file.read_text())
    config["target_modules"] = sorted(config["target_modules"])
    file.write_text(f"{json.dumps(config, indent=2, sort_keys=True)}\n")


def _read_pairs(host: AdapterHost, folder: Path, field: str) -> dict[str, Pair]:
    """The pairs of an adapter by module path, fp32, on the base's device. Raises BadAdapter."""
    config = read_adapter_config(folder, field)
    found: dict[str, dict[str, Tensor]] = {}
    for name, tensor in _tensors(folder, WEIGHTS_FILE, field).items():
        match = _MATRIX.fullmatch(name)
        if match is None:
            next_step = "give plain LoRA, or merge it"
            raise BadAdapter(folder, f"holds {name}, which would not be read", next_step, field)
        found.setdefault(match[1], {})[match[2]] = tensor
    pairs = {}
    for path, matrices in sorted(found.items()):
        layer = host.layers.get(path)
        if layer is None:
            raise BadAdapter(folder, *_not_adapted(host, path), field)
        if matrices.keys() != {"A", "B"}:
            raise BadAdapter(folder, f"holds half a pair at {path}", "export it again", field)
        a, b = matrices["A"], matrices["B"]
        rank = config.rank_at(path)
        out, into = layer.base_weight.shape
        if (a.shape, b.shape) != ((rank, into), (out, rank)):
            raise BadAdapter(folder, f"has another shape at {path}", "take its own base", field)
        where = layer.base.weight.device
        pairs[path] = Pair(
            nn.Parameter(a.float().to(where)),
            nn.Parameter(b.float().to(where)),
            config.scale_at(path),
        )
    return pairs


def _not_adapted(host: AdapterHost, path: str) -> tuple[str, str]:
    """What is wrong with an adapter of the module at `path`, and the next step."""
    if path in dict(host.model.named_modules()):
        return (
            f"adapts {path}, where no adapter can be here",
            "give one of the blocks' matrices",
        )
    return f"adapts {path}, which this base has not", "take its own base"


def _tensors(folder: Path, file: str, field: str) -> dict[str, Tensor]:
    """The tensors of a file. Raises BadAdapter for a broken one."""
    try:
        tensors: dict[str, Tensor] = load_file(folder / file)
    except (OSError, ValueError, SafetensorError) as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
        raise BadAdapter(folder, problem, "export it again", field) from None
    return tensors
