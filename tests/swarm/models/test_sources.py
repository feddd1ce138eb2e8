"""What a ref leads to, and what is said when it leads nowhere."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from swarm import models
from swarm.config.parts import ModelSettings
from swarm.errors import ModelUnavailable, Refusal
from swarm.models import tiny
from swarm.policy.base_model import load_base

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _nothing_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.fixture
def hub_model(random_llama_folder: Path) -> str:
    """The id of a model in the hub's cache, laid out as the hub's client does."""
    cached = Path(constants.HF_HUB_CACHE) / "models--org--small"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(COMMIT)
    (cached / "snapshots").mkdir()
    (cached / "snapshots" / COMMIT).symlink_to(random_llama_folder)
    return "org/small"


def test_tiny_is_always_there() -> None:
    models.check("tiny")
    assert models.folder("tiny") == models.ensure("tiny") == tiny.folder()
    assert models.describe("tiny")["digest"] == tiny.FILES[tiny.WEIGHTS]


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("smollm2-135m-instruct", "autoresearch model add smollm2-135m-instruct"),
        ("smollm2-135m", "did you mean smollm2-135m-instruct?"),
        ("gpt5", "names: tiny, smollm2-135m-instruct"),
        ("/no/such/folder", "not a folder here"),
        ("./models/mine", "not a folder here"),
        ("org/name", "the hub is offline"),
        ("./mine", "not a folder here"),
        ("a--b/name", "not a hub id"),
        ("", "not a model name"),
    ],
)
def test_a_ref_that_leads_nowhere(ref: str, said: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        models.check(ref)
    message = str(caught.value)
    assert message.startswith("model.ref: ")
    assert said in message
    assert "\n" not in message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
    with pytest.raises(Refusal, match=r"model\.ref"):
        load_base(ModelSettings(ref=ref), "cpu")


def test_a_hub_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match="the hub is offline"):
        models.ensure("org/name")


@pytest.mark.parametrize("gap", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file(gap: str, random_llama_folder: Path, tmp_path: Path) -> None:
    for file in random_llama_folder.iterdir():
        if file.name != gap:
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(ModelUnavailable, match=f"has no {gap}"):
        models.check(str(tmp_path))


def test_a_missing_shard_is_named(random_llama_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).symlink_to(random_llama_folder / name)
    index = '{"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(index)
    (tmp_path / "model-1-of-2.safetensors").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match=r"has no model-2-of-2\.safetensors"):
        models.check(str(tmp_path))


@pytest.mark.parametrize(
    "index", ["{", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": []}}']
)
def test_a_broken_index_of_shards(index: str, random_llama_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).symlink_to(random_llama_folder / name)
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ModelUnavailable, match=r"index\.json does not map|has no \[\]"):
        models.check(str(tmp_path))


def test_a_folder_that_is_no_model(random_llama_folder: Path, tmp_path: Path) -> None:
    for file in random_llama_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").write_text('{"model_type": "no-such-architecture"}')
    with pytest.raises(ModelUnavailable, match="transformers cannot read"):
        load_base(ModelSettings(ref=str(tmp_path)), "cpu")


def test_a_model_that_changes_its_logits_after_the_head(
    random_llama_folder: Path, tmp_path: Path
) -> None:
    """Sampler and learner would both miss it."""
    for file in random_llama_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").unlink()
    settings["final_logit_softcapping"] = 30.0
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelUnavailable, match="final_logit_softcapping"):
        load_base(ModelSettings(ref=str(tmp_path)), "cpu")


def test_the_digest_of_a_folder_follows_its_files(
    random_llama_folder: Path, tmp_path: Path
) -> None:
    for file in random_llama_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = models.describe(str(tmp_path))
    assert before["digest"] == models.describe(str(random_llama_folder))["digest"]
    weights = bytearray((tmp_path / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights)
    assert models.describe(str(tmp_path))["digest"] != before["digest"]


def test_a_cached_hub_model_needs_no_network(hub_model: str) -> None:
    models.check(hub_model)
    assert models.describe(hub_model)["digest"] == COMMIT
    base = load_base(ModelSettings(ref=hub_model), "cpu")
    assert base.stop_tokens == {base.tokenizer.eos_token_id}


def test_names_are_checked_and_described_without_torch(random_llama_folder: Path) -> None:
    code = (
        "import sys\n"
        "from swarm import models\n"
        "models.check('tiny'); models.describe('tiny')\n"
        f"models.describe({str(random_llama_folder)!r})\n"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestTheFolderOfARun:
    """Runs leave what they trained in `adapter/`."""

    def test_of_all_weights_it_is_the_model(self, random_llama_folder: Path) -> None:
        run = Path("run")
        run.mkdir()
        (run / "adapter").symlink_to(random_llama_folder)
        assert models.ensure("run") == run / "adapter" == models.folder("run")
        assert models.describe("run")["digest"] == models.describe("run/adapter")["digest"]
        assert load_base(ModelSettings(ref="run"), "cpu").host.model is not None

    @pytest.mark.parametrize("ref", ["run", "run/adapter"])
    def test_of_an_adapter_it_says_which_setting_takes_it(self, ref: str) -> None:
        place = Path("run/adapter")
        place.mkdir(parents=True)
        (place / "adapter_config.json").write_text("{}")
        with pytest.raises(ModelUnavailable, match=r"set policy\.start=run/adapter and leave"):
            models.check(ref)

    def test_a_model_that_has_an_adapter_beside_it_is_a_model(
        self, random_llama_folder: Path
    ) -> None:
        folder = Path("model")
        folder.mkdir()
        for file in random_llama_folder.iterdir():
            (folder / file.name).symlink_to(file)
        (folder / "adapter").mkdir()
        (folder / "adapter" / "adapter_config.json").write_text("{}")
        assert models.ensure("model") == folder
