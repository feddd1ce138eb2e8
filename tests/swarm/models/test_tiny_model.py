"""The recipe of the `tiny` model, at a size that builds in a second, and the model itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file

from swarm import tasks
from swarm.config import ModelSettings
from swarm.models import tiny
from swarm.models.load import load_base
from swarm.models.tiny import RECIPE, Recipe

SMALL = replace(RECIPE, steps=6, rows=8, warmup_steps=2, hidden=16, layers=1, heads=2, mlp=16)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTORESEARCH_CACHE", str(tmp_path))
    return tmp_path


def test_a_recipe_gives_the_same_weights_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, on one machine."""
    built = []
    for name in ("one", "two"):
        monkeypatch.setenv("AUTORESEARCH_CACHE", str(tmp_path / name))
        built.append((tiny.ensure(recipe=SMALL) / "model.safetensors").read_bytes())
    assert built[0] == built[1]


def test_progress_is_told_and_a_built_model_is_not_built_again(cache: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = tiny.ensure(lambda step, steps: told.append((step, steps)), SMALL)
    assert told == [(step, 6) for step in range(1, 7)]
    assert tiny.is_built(SMALL)
    assert tiny.ensure(lambda *_: pytest.fail("built twice"), SMALL) == folder


def test_each_recipe_has_its_own_folder(cache: Path) -> None:
    recipes = [SMALL, replace(SMALL, seed=1), replace(SMALL, lr=1e-3), Recipe()]
    assert len({tiny.path(recipe) for recipe in recipes}) == len(recipes)


def test_changed_tasks_make_another_model(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tiny.path(SMALL)
    monkeypatch.setattr(tasks, "code_digest", lambda: "another task")
    assert tiny.path(SMALL) != before


def test_it_loads_frozen_in_eval_mode_and_knows_its_stop_token(tiny_model: Path) -> None:
    base = load_base(ModelSettings(), "cpu")
    assert base.stop_tokens == {base.tokenizer.eos_token_id}
    assert base.tokenizer.pad_token_id != base.tokenizer.eos_token_id
    assert not base.host.model.training
    assert not any(p.requires_grad for p in base.host.model.parameters())
    weights = load_file(tiny_model / "model.safetensors")
    assert sum(w.numel() for w in weights.values()) == pytest.approx(0.8e6, rel=0.1)
