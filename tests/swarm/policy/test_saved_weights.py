"""What a folder holds, by its files."""

import json
from pathlib import Path

import pytest

from swarm.errors import BadAdapter
from swarm.policy.saved_weights import find_weights

ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
MODEL = ("config.json", "model.safetensors")


def folder(at: Path, *names: str) -> Path:
    at.mkdir(parents=True, exist_ok=True)
    for name in names:
        (at / name).write_text(name)
    return at


@pytest.mark.parametrize(("kind", "names"), [("lora", ADAPTER), ("full", MODEL)])
def test_a_folder_or_that_of_a_run(kind: str, names: tuple[str, ...], tmp_path: Path) -> None:
    at = folder(tmp_path / "run" / "adapter", *names)
    assert find_weights(tmp_path / "run") == find_weights(at)
    assert (find_weights(at).kind, find_weights(at).folder) == (kind, at)


def test_a_model_in_several_files_is_whole(tmp_path: Path) -> None:
    at = folder(tmp_path, "config.json", "a.safetensors", "b.safetensors")
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (at / "model.safetensors.index.json").write_text(json.dumps(index))
    digest = find_weights(at).digest()
    (at / "b.safetensors").write_text("other")
    assert find_weights(at).digest() != digest
    (at / "b.safetensors").unlink()
    with pytest.raises(BadAdapter, match="no weights"):
        find_weights(at)


@pytest.mark.parametrize("names", [ADAPTER, MODEL])
def test_each_file_that_counts_is_in_the_digest(names: tuple[str, ...], tmp_path: Path) -> None:
    at = folder(tmp_path, *names)
    digests = {find_weights(at).digest()}
    for name in names:
        (at / name).write_text("other")
        digests.add(find_weights(at).digest())
    assert len(digests) == 3
    (at / "README.md").write_text("says nothing")
    assert find_weights(at).digest() in digests


def test_nothing_and_a_pickle(tmp_path: Path) -> None:
    with pytest.raises(BadAdapter, match=r"policy\.start: .* holds no adapter_config\.json"):
        find_weights(tmp_path, "policy.start")
    folder(tmp_path, "adapter_config.json", "adapter_model.bin")
    with pytest.raises(BadAdapter, match=r"adapter_model\.bin, a pickle; load it in PEFT"):
        find_weights(tmp_path)
