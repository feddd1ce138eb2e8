"""A run's `config.yaml`: the resolved TrainConfig that it is trained with."""

from io import StringIO
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML

from swarm.config.base import EVERY
from swarm.config.train import TrainConfig
from swarm.config.yaml_file import read_yaml
from swarm.disk.folder import CONFIG, write_atomically
from swarm.errors import Refusal


def write_config(config: TrainConfig, folder: Path) -> None:
    """Write the resolved config as YAML."""
    text = StringIO()
    YAML(typ="safe").dump(config.model_dump(mode="json", context=EVERY), text)
    write_atomically(folder / CONFIG, text.getvalue())


def read_config(folder: Path) -> TrainConfig:
    """The config a run folder was trained with. Raises Refusal where it was damaged since."""
    path = folder / CONFIG
    try:
        return TrainConfig.read_back(read_yaml(path, "out"))
    except ValidationError:
        raise Refusal("out", f"{path} is not a run's", "train into a new folder") from None
