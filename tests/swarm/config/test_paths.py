"""Configs and plain trees by dotted paths."""

import pytest
from pydantic import ValidationError

from swarm.config import paths
from swarm.config.train import TrainConfig


def test_a_path_is_read_and_set_in_place() -> None:
    tree: dict = {"a": {"b": 1}}
    paths.put(tree, "a.c.d", 2)
    assert tree == {"a": {"b": 1, "c": {"d": 2}}}
    assert paths.get(tree, "a.c.d") == 2
    with pytest.raises(KeyError):
        paths.get(tree, "a.x")
    with pytest.raises(KeyError):
        paths.put(tree, "a.b.x", 1)


def test_leaves_are_the_values_of_a_tree() -> None:
    tree = {"a": {"b": 1, "c": {"d": None}}, "e": [1], "f": {}}
    assert list(paths.leaves(tree)) == [("a.b", 1), ("a.c.d", None), ("e", [1])]


def test_settings_are_every_value_but_a_tasks_arguments() -> None:
    config = TrainConfig().with_values({"task.args.min": 3})
    settings = paths.flat(config)
    assert settings["optim.lr"] == paths.setting(config, "optim.lr") == 1e-3
    assert "task.args.min" not in settings
    assert paths.setting(config, "task.args.min") == 3


def test_differences_are_what_makes_the_other_one() -> None:
    base = TrainConfig()
    values = {"optim.lr": 5e-4, "algorithm.name": "rloo", "seed": 3}
    other = base.with_values(values)
    found = paths.differences(base, other)
    assert values.items() <= found.items()
    assert found["algorithm.baseline"] == "leave_one_out"
    assert base.with_values(found) == other
    assert paths.differences(base, base) == {}


def test_the_first_difference_may_be_a_tasks_argument() -> None:
    base = TrainConfig()
    assert paths.first_difference(base, base) is None
    other = base.with_values({"task.args.min": 3, "task.reward": "partial"})
    assert paths.first_difference(base, other) == "task.args.min"


def test_a_problem_is_named_by_its_path() -> None:
    with pytest.raises(ValidationError) as raised:
        TrainConfig.model_validate({"optim": {"lr": -1}})
    assert paths.first_problem(raised.value) == "optim.lr: Input should be greater than 0"
