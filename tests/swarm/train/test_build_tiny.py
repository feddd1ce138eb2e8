"""The recipe of `tiny`, at a size that trains in a second."""

from dataclasses import replace
from pathlib import Path

import pytest

from swarm.config.parts import ModelSettings
from swarm.models import tiny
from swarm.policy.base_model import load_base
from swarm.train.build_tiny import RECIPE, Recipe, build, weights_digest

SMALL = replace(
    RECIPE,
    steps=6,
    warmup_steps=2,
    hidden=16,
    layers=1,
    heads=2,
    mlp=16,
    families=("reverse", "chain"),
    rows=4,
)


def built(folder: Path, recipe: Recipe = SMALL) -> str:
    build(folder, recipe)
    return weights_digest(folder)


def test_a_recipe_gives_the_same_weights_each_time(tmp_path: Path) -> None:
    """To the bit, on one machine."""
    first = built(tmp_path / "one")
    assert built(tmp_path / "two") == first
    assert first != tiny.FILES[tiny.WEIGHTS]


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"lr": 1e-3}, {"steps": 5}, {"families": ("reverse", "sort")}]
)
def test_another_recipe_makes_another_model(change: dict, tmp_path: Path) -> None:
    assert built(tmp_path / "one", replace(SMALL, **change)) != built(tmp_path / "two")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    build(tmp_path, SMALL, lambda step, steps: told.append((step, steps)))
    assert told == [(step, 6) for step in range(1, 7)]


def test_what_is_made_can_be_trained_like_tiny(tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    made, frozen = (load_base(ModelSettings(ref=ref), "cpu") for ref in (str(tmp_path), "tiny"))
    assert made.stop_tokens == frozen.stop_tokens
    assert made.tokenizer.get_vocab() == frozen.tokenizer.get_vocab()
    assert {file.name for file in tmp_path.iterdir()} == set(tiny.FILES)
