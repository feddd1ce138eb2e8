"""Configs from files and settings."""

from pathlib import Path

import pytest

from swarm.cli.config_file import read_file
from swarm.config.train import TrainConfig
from swarm.disk.folder import CONFIG
from swarm.disk.run_config import write_config
from swarm.errors import Refusal

pytestmark = pytest.mark.usefixtures("tiny_model")


class TestFiles:
    def test_a_tasks_path_is_relative_to_the_file_in_which_it_stands(self, config: Path) -> None:
        folder = config.parent / "inner"
        folder.mkdir()
        rows = "".join(f'{{"prompt": "{i}>", "answer": {i}}}\n' for i in range(99))
        (folder / "data.jsonl").write_text(rows)
        inner = folder / "own.yaml"
        inner.write_text("task: {ref: data.jsonl}")
        found = read_file(inner, [])
        assert found.task.ref == str(folder / "data.jsonl")
        assert len(found.task.digest) == 64
        assert read_file(config, ["task.ref=inner/data.jsonl", "task.args={}"]) == read_file(
            config, [f"task.ref={folder / 'data.jsonl'}", "task.args={}"]
        )


@pytest.mark.parametrize(
    ("pair", "field", "problem"),
    [
        ("optim.lr=.inf", "optim.lr", "Input should be a finite number"),
        ("batch.rollouts=15", "batch", "rollouts 15 is not a multiple of group_size 4"),
        ("batch.group_size=1", "algorithm.baseline", "'group' needs batch.group_size of 2 or more"),
        ("steps=0", "steps", "Input should be greater than or equal to 1"),
        ("task.time_limit=0", "task.time_limit", "Input should be greater than 0"),
        ("task.time_limt=3", "task.time_limt", "there is no such setting"),
    ],
)
def test_the_field_of_a_refusal_is_a_setting(
    config: Path, pair: str, field: str, problem: str
) -> None:
    with pytest.raises(Refusal) as refused:
        read_file(config, [pair])
    assert (refused.value.field, refused.value.problem) == (field, problem)
    if "limt" in pair:
        assert refused.value.next_step == "did you mean time_limit?"


def test_an_objection_that_names_no_setting_is_to_the_whole_config(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first word is not taken for a field."""
    monkeypatch.setattr("swarm.config.train._groups", lambda _: ["These settings do not go well"])
    with pytest.raises(Refusal, match=r"^config: These settings do not go well; give another"):
        read_file(config, [])


@pytest.mark.parametrize("name", ["dapo", "ppo", "reinforce_pp", "dpo"])
def test_a_preset_set_on_a_whole_config_is_that_preset(tmp_path: Path, name: str) -> None:
    """A run's own config names every setting; another preset is not its label alone."""
    write_config(TrainConfig(), tmp_path)
    found = read_file(tmp_path / CONFIG, [f"algorithm.name={name}"])
    assert found.algorithm == TrainConfig().with_values({"algorithm.name": name}).algorithm
    assert found.data == TrainConfig().with_values({"algorithm.name": name}).data


@pytest.mark.parametrize("name", ["default", "dppo", "reinforce_pp", "ppo", "gspo"])
@pytest.mark.parametrize(
    "pair",
    [
        "algorithm.correction.kind=none",
        "algorithm.correction.kind=token_mask",
        "algorithm.baseline=batch",
        "algorithm.baseline=group",
        "algorithm.baseline=value",
    ],
)
def test_what_follows_from_a_setting_goes_with_it(tmp_path: Path, name: str, pair: str) -> None:
    """On a config that says every setting, and on one that says the name, as on the preset."""
    preset = TrainConfig().with_values({"algorithm.name": name, "algorithm.scale": "none"})
    path, _, value = pair.partition("=")
    write_config(preset, tmp_path)
    short = tmp_path / "short.yaml"
    short.write_text(f"algorithm: {{name: {name}, scale: none}}\n")
    expected = preset.with_values({path: value}).algorithm
    for file in (tmp_path / CONFIG, short):
        assert read_file(file, [pair]).algorithm == expected


def test_bounds_that_are_given_with_a_kind_are_kept(tmp_path: Path) -> None:
    write_config(TrainConfig().with_values({"algorithm.name": "dppo"}), tmp_path)
    pairs = ["algorithm.correction.high=3", "algorithm.correction.kind=token_mask"]
    assert read_file(tmp_path / CONFIG, pairs).algorithm.correction.bounds == (0.5, 3.0)
    same = ["algorithm.correction.kind=dppo", "algorithm.correction.low=0.1"]
    assert read_file(tmp_path / CONFIG, same).algorithm.correction.bounds == (0.1, 0.2)
