"""A GGUF file as a model folder."""

from pathlib import Path

import pytest
import torch
from support.small_gguf import TEMPLATE, TOKENS, rounded, small_llama, write_gguf
from transformers import AutoModelForCausalLM, AutoTokenizer

from swarm.models.gguf_conversion import END_TOKENS, convert


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gguf")
    write_gguf(small_llama(), place / "small.gguf")
    convert(place / "small.gguf", place / "model")
    return place / "model"


def test_weights_are_the_dequantised_ones_in_fp32(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    truth = small_llama().state_dict()
    for name, weight in model.state_dict().items():
        assert weight.dtype == torch.float32
        assert torch.allclose(weight, torch.as_tensor(rounded(truth[name])), atol=1e-6), name


def test_it_is_no_quantised_model_any_more(folder: Path) -> None:
    assert "quantization" not in (folder / "config.json").read_text()


def test_both_ends_stop_a_completion(folder: Path) -> None:
    config = AutoModelForCausalLM.from_pretrained(folder).generation_config
    assert config.eos_token_id == [TOKENS.index(token) for token in END_TOKENS]


def test_tokenizer_template_and_context_travel_along(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.chat_template == TEMPLATE
    assert tokenizer.model_max_length == 128
    assert tokenizer.convert_ids_to_tokens(tokenizer("a\n\n12").input_ids) == ["a", "ĊĊ", "1", "2"]
