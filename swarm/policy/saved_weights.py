"""Weights that a run, or another tool, left in a folder: found and told apart without torch."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swarm.config.parts import PolicySettings
from swarm.errors import BadAdapter, Refusal
from swarm.models.sources import weight_files
from swarm.policy.adapter_config import CONFIG_FILE, WEIGHTS_FILE, read_adapter_config

#: Where a run's folder holds its weights.
OF_A_RUN = "adapter"

#: What PEFT wrote before safetensors; it is a pickle.
PICKLED = "adapter_model.bin"


@dataclass(frozen=True)
class SavedWeights:
    """A LoRA adapter in PEFT's layout, or all weights of a model in transformers'."""

    folder: Path
    kind: Literal["lora", "full"]

    def digest(self) -> str:
        """sha256 over the names and bytes of the files that decide what is computed."""
        names = [CONFIG_FILE, WEIGHTS_FILE]
        if self.kind == "full":
            names = ["config.json", *weight_files(self.folder)]
        digest = hashlib.sha256()
        for name in names:
            with (self.folder / name).open("rb") as file:
                digest.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()


def find_weights(folder: Path, field: str = "adapter") -> SavedWeights:
    """The weights in this folder or, of a run, in its `adapter/`. Raises BadAdapter."""
    for place in (folder, folder / OF_A_RUN):
        if (place / CONFIG_FILE).is_file() and (place / WEIGHTS_FILE).is_file():
            return SavedWeights(place, "lora")
        if (place / CONFIG_FILE).is_file() and (place / PICKLED).is_file():
            next_step = f"load it in PEFT and save it again, as {WEIGHTS_FILE}"
            raise BadAdapter(place, f"holds {PICKLED}, a pickle", next_step, field)
        if (place / "config.json").is_file() and all(
            (place / name).is_file() for name in weight_files(place)
        ):
            return SavedWeights(place, "full")
    next_step = "give a LoRA adapter, a model's folder, or a run that made one"
    raise BadAdapter(folder, f"holds no {CONFIG_FILE} and no weights", next_step, field)


def start_digest(settings: PolicySettings) -> str:
    """The digest of the weights that `policy.start` names, "" where it names none. Raises Refusal
    where these are not of `policy.kind`, `rank` and `alpha`."""
    if not settings.start:
        return ""
    found = find_weights(Path(settings.start), "policy.start")
    if found.kind != settings.kind:
        raise Refusal(
            "policy.kind",
            f"it is {settings.kind}, and {found.folder} holds {_KINDS[found.kind]}",
            f"set it to {found.kind}"
            + (", or model.ref to that folder" if found.kind == "full" else ""),
        )
    if found.kind == "lora":
        config = read_adapter_config(found.folder, "policy.start")
        if config.patterned:
            problem = f"uses {config.patterned}, which training does not keep"
            raise BadAdapter(found.folder, problem, "start from plain LoRA", "policy.start")
        for name, value, theirs in (
            ("rank", settings.rank, config.rank),
            ("alpha", settings.alpha, config.alpha),
        ):
            if value != theirs:
                raise Refusal(
                    f"policy.{name}",
                    f"it is {value:g}, and the adapter in {found.folder} has {theirs:g}",
                    f"set it to {theirs:g}",
                )
    return found.digest()


_KINDS = {"lora": "a LoRA adapter", "full": "all weights of a model"}
