"""A run's config on disk."""

from pathlib import Path

import pytest

from swarm.config.train import TrainConfig
from swarm.disk.run_config import read_config, write_config
from swarm.errors import Refusal


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


@pytest.mark.parametrize("text", [b"steps: [", b"stepz: 3", b"\xff", b"3"])
def test_a_config_that_was_damaged_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(text)
    with pytest.raises(Refusal, match=r"^out: .*config\.yaml is not"):
        read_config(tmp_path)
