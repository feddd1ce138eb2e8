"""How large a model is, read from its headers."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from swarm.models import tiny
from swarm.models.size import parameters


def test_the_parameters_of_tiny_are_counted_without_its_weights() -> None:
    assert parameters("tiny") == 810_752


def test_shards_are_summed(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(3, 5)}, tmp_path / "one.safetensors")
    save_file({"b": torch.zeros(7), "c": torch.tensor(1.0)}, tmp_path / "two.safetensors")
    index = '{"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(index)
    assert parameters(str(tmp_path)) == 15 + 7 + 1


@pytest.mark.parametrize("content", [b"", b"\xff" * 16, b"\x04\0\0\0\0\0\0\0[1]"])
def test_what_cannot_be_read_is_not_known(tmp_path: Path, content: bytes) -> None:
    (tmp_path / tiny.WEIGHTS).write_bytes(content)
    assert parameters(str(tmp_path)) is None
    assert parameters("org/never-fetched") is None
    assert parameters("no such thing") is None
