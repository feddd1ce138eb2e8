"""The places that a base model comes from. None of them imports torch."""

import difflib
import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from swarm.disk.folder import ADAPTER
from swarm.disk.user_paths import expanded
from swarm.errors import ModelUnavailable
from swarm.models import smollm2, tiny
from swarm.models.model_cache import WEIGHTS

NAMES = (tiny.NAME, smollm2.NAME)

#: By which a folder is a LoRA adapter, as PEFT saves it.
ADAPTER_CONFIG = "adapter_config.json"


class Description(TypedDict):
    """What a model is, for a run's fingerprint. `digest` changes when the model does."""

    name: str
    digest: str
    provenance: str


class Source(ABC):
    """One place; see the functions of `swarm.models`. Raises ModelUnavailable."""

    @abstractmethod
    def folder(self) -> Path | None: ...

    @abstractmethod
    def ensure(self) -> Path: ...

    @abstractmethod
    def describe(self) -> Description: ...

    def check(self) -> None:
        self.ensure()


def find(ref: str) -> Source:
    """The place that a ref names: a name, else a local folder, else a hub id."""
    if ref == tiny.NAME:
        return Tiny()
    if ref == smollm2.NAME:
        return SmolLM2()
    path = expanded(ref)
    if ref and path.is_dir():
        return Folder(ref, path)
    if _is_hub_id(ref):
        return Hub(ref)
    near = difflib.get_close_matches(ref, NAMES, n=1, cutoff=0.5)
    raise ModelUnavailable(
        f"{ref!r} is not a model name, not a folder here and not a hub id (org/name)",
        f"did you mean {near[0]}?" if near else f"names: {', '.join(NAMES)}",
    )


@dataclass(frozen=True)
class Tiny(Source):
    """Part of this package; identified by the sha256 of its weights."""

    def folder(self) -> Path | None:
        try:
            return tiny.folder()
        except ModelUnavailable:
            return None

    def ensure(self) -> Path:
        return tiny.folder()

    def describe(self) -> Description:
        self.check()
        return Description(name=tiny.NAME, digest=tiny.FILES[tiny.WEIGHTS], provenance=tiny.ABOUT)


@dataclass(frozen=True)
class SmolLM2(Source):
    """Fetched when it is asked for, and not by a run: the user decides on 93 MB."""

    def folder(self) -> Path | None:
        return smollm2.path() if smollm2.is_present() else None

    def ensure(self) -> Path:
        if not smollm2.is_present():
            raise ModelUnavailable(
                f"{smollm2.NAME} is not on this machine",
                f"get it with: autoresearch model add {smollm2.NAME}",
            )
        return smollm2.path()

    def describe(self) -> Description:
        self.check()
        return Description(
            name=smollm2.NAME, digest=smollm2.weights_digest(), provenance=smollm2.ABOUT
        )


@dataclass(frozen=True)
class Folder(Source):
    """A local folder in Hugging Face format; identified by its files."""

    ref: str
    path: Path

    @property
    def place(self) -> Path:
        """The model's own folder: of a run that trained all weights, the one it left them in."""
        left = self.path / ADAPTER
        is_run = not (self.path / "config.json").is_file() and (left / "config.json").is_file()
        return left if is_run else self.path

    def folder(self) -> Path | None:
        return self.place

    def ensure(self) -> Path:
        gap = missing_file(self.place)
        for place in (self.path, self.path / ADAPTER):
            if gap == "config.json" and (place / ADAPTER_CONFIG).is_file():
                raise ModelUnavailable(
                    f"{self.ref!r} holds a LoRA adapter, which is no model by itself",
                    f"set policy.start={place} and leave model.ref at the adapter's base",
                )
        if gap:
            raise ModelUnavailable(
                f"the folder {self.ref!r} has no {gap}",
                "give a model in Hugging Face format with safetensors weights",
            )
        return self.place

    def describe(self) -> Description:
        self.check()
        digest = hashlib.sha256()
        for path in sorted(path for path in self.place.iterdir() if path.is_file()):
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
        return Description(name=self.ref, digest=digest.hexdigest(), provenance="a local folder")


@dataclass(frozen=True)
class Hub(Source):
    """A model on the Hugging Face hub; identified by its commit. What is in the hub's cache on this
    machine is used as it is, so that runs side by side see the same commit and need no network."""

    ref: str

    def folder(self) -> Path | None:
        from huggingface_hub import try_to_load_from_cache

        config = try_to_load_from_cache(self.ref, "config.json")
        folder = Path(config).parent if isinstance(config, str) else None
        return folder if folder and not missing_file(folder) else None

    def check(self) -> None:
        if self.folder() is None:
            self._fetch("config.json")

    def ensure(self) -> Path:
        found = self.folder()
        if found is None:
            found = self._fetch("*.json", "*.safetensors", "*.model", "*.jinja", "*.txt")
            Folder(self.ref, found).ensure()
        return found

    def describe(self) -> Description:
        folder = self.ensure()
        return Description(
            name=self.ref, digest=folder.name, provenance=f"the hub, commit {folder.name}"
        )

    def _fetch(self, *patterns: str) -> Path:
        """The snapshot's folder, with the files of its top level that match."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

        try:
            return Path(
                snapshot_download(self.ref, allow_patterns=list(patterns), ignore_patterns=["*/*"])
            )
        except RepositoryNotFoundError as error:
            raise ModelUnavailable(
                f"{self.ref!r} is not a folder here, nor a model on the hub that you may read",
                f"check the spelling and your access; without the hub there are {', '.join(NAMES)}",
            ) from error
        except LocalEntryNotFoundError as error:
            raise ModelUnavailable(
                f"{self.ref!r} is not a folder here and not in the hub's cache; the hub is offline",
                f"fetch it where there is a network; without the hub there are {', '.join(NAMES)}",
            ) from error


def _is_hub_id(ref: str) -> bool:
    if ref.count("/") != 1:
        return False
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(ref)
    except HFValidationError:
        return False
    return True


def missing_file(folder: Path) -> str | None:
    """The first file that a folder lacks to be loaded as a model with its tokenizer, or None."""
    if not (folder / "config.json").is_file():
        return "config.json"
    for name in weight_files(folder):
        if not (folder / name).is_file():
            return name
    tokenizers = ("tokenizer.json", "tokenizer.model", "vocab.json")
    if not any((folder / name).is_file() for name in tokenizers):
        return "tokenizer.json"
    return None


def weight_files(folder: Path) -> list[str]:
    """The names of the files that hold the weights of a model's folder, whether they are there or
    not. Raises ModelUnavailable for a broken index."""
    index = folder / f"{WEIGHTS}.index.json"
    return _shards(index) if index.is_file() else [WEIGHTS]


def _shards(index: Path) -> list[str]:
    try:
        return sorted({str(name) for name in json.loads(index.read_bytes())["weight_map"].values()})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ModelUnavailable(
            f"{index} does not map weights to files", "copy the model's folder anew"
        ) from None
