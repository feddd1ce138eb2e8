"""A run's `config.yaml`: the resolved TrainConfig that it is trained with."""

from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML

from swarm.config.train import TrainConfig
from swarm.disk.folder import CONFIG, write_atomically


def write_config(config: TrainConfig, folder: Path) -> None:
    """Write the resolved config as YAML."""
    text = StringIO()
    YAML(typ="safe").dump(config.model_dump(mode="json"), text)
    write_atomically(folder / CONFIG, text.getvalue())


def read_config(folder: Path) -> TrainConfig:
    """The config a run folder was trained with."""
    with (folder / CONFIG).open(encoding="utf-8") as file:
        return TrainConfig.model_validate(YAML(typ="safe").load(file))
