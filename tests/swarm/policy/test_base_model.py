"""Loading a base model: its device, its precision, its stop tokens."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable, Refusal
from swarm.models.ends import Ends, ends_of
from swarm.policy import base_model
from swarm.policy.base_model import load_base, usable_device


@pytest.fixture
def folder(random_llama_folder: Path, tmp_path: Path) -> Path:
    """A copy of the model that a test may spoil."""
    return Path(shutil.copytree(random_llama_folder, tmp_path / "model"))


def set_in(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def without_tokens(folder: Path) -> None:
    """Its tokenizer names neither end nor padding."""
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text())
    for name in ("eos_token", "pad_token"):
        del settings[name]
    file.write_text(json.dumps(settings))


@pytest.mark.parametrize("ends", [1, [1, 2]])
def test_all_end_tokens_stop_a_completion(folder: Path, ends: int | list[int]) -> None:
    set_in(folder / "generation_config.json", eos_token_id=ends)
    base = load_base(ModelSettings(ref=str(folder)), "cpu")
    assert base.stop_tokens == frozenset([ends] if isinstance(ends, int) else ends)


def test_the_tokenizers_own_end_is_one_of_them(folder: Path) -> None:
    """Case 06: answers were trained to end with a token at which sampling went on."""
    set_in(folder / "tokenizer_config.json", eos_token=".")
    base = load_base(ModelSettings(ref=str(folder)), "cpu")
    assert base.ends.written == base.tokenizer.eos_token_id != 1
    assert base.stop_tokens == {1, base.ends.written}


def test_a_tokenizer_without_an_end_takes_the_models(folder: Path) -> None:
    without_tokens(folder)
    base = load_base(ModelSettings(ref=str(folder)), "cpu")
    assert base.tokenizer.eos_token_id is None
    assert base.ends == Ends(frozenset({1}), 1, None)


def test_a_turn_ends_as_the_template_ends_it(folder: Path) -> None:
    template = "{% for m in messages %}{{ m['content'] }}.{% endfor %}"
    set_in(folder / "tokenizer_config.json", chat_template=template)
    tokenizer = load_base(ModelSettings(ref=str(folder)), "cpu").tokenizer
    end = tokenizer.convert_tokens_to_ids(".")
    assert ends_of("it", tokenizer, [1, end]) == Ends(frozenset({1, end}), end, 0)
    assert ends_of("it", tokenizer, [1]).written == 1  # "." does not stop this one


def test_a_model_without_an_end_is_refused(folder: Path) -> None:
    set_in(folder / "generation_config.json", eos_token_id=None)
    set_in(folder / "config.json", eos_token_id=None)
    assert load_base(ModelSettings(ref=str(folder)), "cpu").ends.written == 1  # its tokenizer's
    without_tokens(folder)
    with pytest.raises(ModelUnavailable, match="names no end-of-sequence token"):
        load_base(ModelSettings(ref=str(folder)), "cpu")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_have_the_precision_asked_for(folder: Path, dtype: str) -> None:
    base = load_base(ModelSettings(ref=str(folder), dtype=dtype), "cpu")
    assert {p.dtype for p in base.host.model.parameters()} == {getattr(torch, dtype)}
    assert base.device == torch.device("cpu")
    assert not base.host.model.training


def test_too_little_memory_is_no_fault_of_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(base_model.AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(MemoryError):
        load_base(ModelSettings(ref=str(folder)), "cpu")


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert usable_device("auto") == usable_device("cpu") == "cpu"
    with pytest.raises(Refusal, match="finds no CUDA device"):
        usable_device("cuda")


def test_auto_takes_the_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert usable_device("auto") == usable_device("cuda") == "cuda"
    assert usable_device("cpu") == "cpu"
