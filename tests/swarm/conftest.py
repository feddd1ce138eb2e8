"""Random models that need no build, on one torch thread."""

from pathlib import Path

import pytest
import torch
from support.models import gpt2, llama, save_llama
from torch import nn

torch.set_num_threads(1)


@pytest.fixture
def random_llama() -> nn.Module:
    """A fresh two-layer Llama (RoPE, grouped keys) with the weights of a fixed seed."""
    return llama()


@pytest.fixture
def random_gpt2() -> nn.Module:
    """A fresh two-layer GPT-2: positions are learned, so wrong ids would change its outputs."""
    return gpt2()


@pytest.fixture(scope="session")
def random_llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved random Llama with the character tokenizer, as `model.ref` takes it."""
    return save_llama(tmp_path_factory.mktemp("models") / "random-llama")
