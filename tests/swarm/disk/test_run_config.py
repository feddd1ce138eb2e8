"""A run's config on disk."""

from pathlib import Path

from swarm.config.train import TrainConfig
from swarm.disk.run_config import read_config, write_config


def test_a_config_comes_back_as_it_was(tmp_path: Path) -> None:
    config = TrainConfig().with_values(
        {
            "algorithm.name": "rloo",
            "task.args.min": 3,
            "optim.lr": 3e-4,
            "optim.eps": 1e-8,
            "seed": 7,
        }
    )
    write_config(config, tmp_path)
    assert read_config(tmp_path) == config
    assert read_config(tmp_path).digest() == config.digest()
