"""The frozen model: its files are the ones it is known by, and it can be trained from."""

import hashlib
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file

from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable
from swarm.models import tiny
from swarm.policy.base_model import load_base


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model's folder, taken for the frozen one."""
    copy = tmp_path / "tiny"
    shutil.copytree(tiny.folder(), copy)
    monkeypatch.setattr(tiny, "_FOLDER", copy)
    return copy


def test_its_files_have_the_sha256_that_they_are_known_by(tiny_model: Path) -> None:
    found = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in tiny_model.iterdir()
    }
    assert found == dict(tiny.FILES)


def test_a_whole_copy_is_as_good(copy: Path) -> None:
    assert tiny.folder() == copy


@pytest.mark.parametrize("name", tiny.FILES)
def test_a_changed_file_is_refused_by_name(copy: Path, name: str) -> None:
    data = bytearray((copy / name).read_bytes())
    data[-1] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(ModelUnavailable, match=rf"model\.ref: .*{name} .*install the package anew"):
        tiny.folder()


def test_a_missing_file_is_refused_by_name(copy: Path) -> None:
    (copy / tiny.WEIGHTS).unlink()
    with pytest.raises(ModelUnavailable, match=tiny.WEIGHTS):
        tiny.folder()


def test_it_loads_frozen_in_eval_mode_and_knows_its_stop_token() -> None:
    base = load_base(ModelSettings(), "cpu")
    assert base.stop_tokens == {base.tokenizer.eos_token_id}
    assert base.tokenizer.pad_token_id != base.tokenizer.eos_token_id
    assert not base.host.model.training
    assert not any(p.requires_grad for p in base.host.model.parameters())


def test_it_has_the_size_that_it_says(tiny_model: Path) -> None:
    weights = load_file(tiny_model / tiny.WEIGHTS)
    assert sum(w.numel() for w in weights.values()) == pytest.approx(0.8e6, rel=0.1)
    assert "0.8 M" in tiny.ABOUT
