"""Final weights in formats that other tools read."""

from pathlib import Path

from safetensors.torch import save_file

from swarm.config.parts import ModelSettings, PolicySettings
from swarm.policy.lora import TARGETS
from swarm.policy.policy import Policy


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
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules=list(TARGETS[settings.targets]),
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
        base_model_name_or_path=model.ref,
        inference_mode=True,
    ).save_pretrained(folder)
