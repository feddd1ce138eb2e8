"""`tiny`: a character-level Llama of 0.8 M parameters whose weights travel in this package. Made
once by `python -m swarm.train.build_tiny FOLDER` and frozen, so that every machine trains the same
model. What another recipe makes gets another name."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from swarm.errors import ModelUnavailable

NAME = "tiny"
ABOUT = "character-level Llama of 0.8 M parameters, frozen with this package"

WEIGHTS = "model.safetensors"

#: The sha256 of each of its files.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "config.json": "087107d301dc5654736f16efe68daf568a6533ff856d2016917094f9f177eeed",
        "generation_config.json": "46bd9a12662a44d685bd2d29f1050913b79f468e5d5fcdacb3c31932e1d6db74",  # noqa: E501
        "model.safetensors": "56d22e851b3e9809eecdb00f9d1fe575df07a68625dae9db148797d777fc4bb2",
        "tokenizer.json": "f03ca68aa93cfa8c4587950b9ced540b80580efd904c13167e9138890830fc19",
        "tokenizer_config.json": "8630f1f94f74b8def7de6bacd4540dd8e09087e14329b1c148c6c314137ea79c",
    }
)

_FOLDER = Path(__file__).parent / "weights" / NAME


def folder() -> Path:
    """Where it lies in Hugging Face format. Raises ModelUnavailable when a file is not as it was
    frozen."""
    for name, digest in FILES.items():
        file = _FOLDER / name
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            raise ModelUnavailable(
                f"{file} is not the one that {NAME} was frozen with", "install the package anew"
            )
    return _FOLDER
