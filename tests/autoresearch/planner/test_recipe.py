"""What a playbook's settings become for another model than the one they were chosen for."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from support.plans import plan_for

from autoresearch.planner.recipe import recipe_for
from autoresearch.playbook import Library
from swarm.models import tiny

TOPIC = "group size 4 or 16?"


def model_of(folder: Path, parameters: int) -> str:
    """A folder whose weights have so many parameters. Its tokenizer is tiny's."""
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((tiny.folder() / name).read_bytes())
    save_file({"a": torch.zeros(parameters, dtype=torch.int8)}, folder / tiny.WEIGHTS)
    return str(folder)


def test_tiny_keeps_the_values_of_the_playbook() -> None:
    plan = plan_for(TOPIC)
    assert plan.train.optim.lr == 1e-3
    assert any("0.8 M parameters" in note for note in plan.notes)


def test_a_model_of_another_class_gets_its_recipe_and_is_the_one_spoken_of(tmp_path: Path) -> None:
    model = model_of(tmp_path, 30_000_000)
    plan = plan_for(TOPIC, model=model)
    assert plan.train.optim.lr == 5e-4
    assert plan.tuning is None or (plan.tuning.low, plan.tuning.high) == (1e-4, 1e-3)
    said = [note for note in plan.notes if model in note]
    assert any("30 M parameters" in note and "optim.lr 0.0005" in note for note in said)
    assert not any("0.8 M" in note for note in plan.notes)


def test_what_is_not_on_this_machine_gets_a_stated_default() -> None:
    base = Library.locate().load("factor-sweep")
    found = recipe_for(base, "org/never-fetched")
    assert found.applies
    assert "stated default" in found.said[0]
    assert "0.0001" in found.said[0]


def test_usual_levels_are_those_of_the_class(tmp_path: Path) -> None:
    model = model_of(tmp_path, 30_000_000)
    plan = plan_for("does the learning rate matter?", model=model)
    assert plan.treatments[0].levels[0] == plan.treatments[0].control == 5e-4
    whole = plan_for("LoRA or full weights?", model=model)
    rates = {
        whole.train_config(arm.id, whole.tasks[0], 0, {}).policy.kind: whole.train_config(
            arm.id, whole.tasks[0], 0, {}
        ).optim.lr
        for arm in whole.arms
    }
    assert rates == {"lora": 5e-4, "full": 5e-5}


def test_the_user_wins_over_a_recipe(tmp_path: Path) -> None:
    plan = plan_for(TOPIC, model=model_of(tmp_path, 30_000_000), set={"optim.lr": 0.01})
    assert plan.train.optim.lr == 0.01


def test_a_playbook_for_a_model_keeps_its_own_values() -> None:
    base = Library.locate().load("factor-sweep").model_copy(update={"model": "org/mine"})
    assert not recipe_for(base, "org/mine").applies


@pytest.mark.parametrize(
    ("size", "words"), [(810_752, "0.8 M"), (134_515_008, "135 M"), (1_543_714_304, "1.5 B")]
)
def test_sizes_are_said_as_people_say_them(size: int, words: str) -> None:
    from autoresearch.planner.recipe import _spoken

    assert _spoken(size) == words
