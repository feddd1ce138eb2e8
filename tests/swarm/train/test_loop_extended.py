"""A finished run goes on to more steps, as the run that had them from the start."""

from pathlib import Path

import pytest
from support.tiny_runs import assert_same_run, rows, same_weights, small

from swarm.disk.folder import ADAPTER, MANIFEST, check_seal
from swarm.errors import Refusal
from swarm.train.loop import train


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"algorithm__name": "ppo", "optim__warmup_steps": 5, "warmup__steps": 2},
        {"max_staleness": 2, "algorithm__correction__kind": "token_mask"},
    ],
    ids=str,
)
def test_it_is_the_longer_run(values: dict, tmp_path: Path) -> None:
    config = small(checkpoint_every=100, **values)
    train(config, tmp_path / "straight")
    for steps in (3, 6):
        extended = config.with_values({"steps": steps})
        result = train(extended, tmp_path / "run", resume_from=tmp_path / "run")
        assert (result.status, result.steps) == ("finished", steps)
        assert check_seal(tmp_path / "run") == []
    assert_same_run(tmp_path / "run", tmp_path / "straight")


def test_the_evaluation_of_its_former_end_stays(tmp_path: Path) -> None:
    config = small(evaluation__every=4)
    train(config, tmp_path / "straight")
    for steps in (3, 6):
        train(config.with_values({"steps": steps}), tmp_path / "run", resume_from=tmp_path / "run")
    assert same_weights(tmp_path / "run", tmp_path / "straight")
    evaluated = [row["step"] for row in rows(tmp_path / "run") if "eval/acc" in row]
    assert evaluated == [0, 3, 4, 6]


@pytest.mark.parametrize(
    ("values", "steps", "named"),
    [
        (
            {"optim__schedule": "linear"},
            6,
            r"steps: .* was trained for 3, and optim\.schedule line",
        ),
        (
            {"data__order": "easy_first"},
            6,
            r"steps: .* and data\.order easy_first depends on their",
        ),
        ({}, 2, r"steps: .* was trained with another value"),
    ],
    ids=str,
)
def test_another_course_is_refused(values: dict, steps: int, named: str, tmp_path: Path) -> None:
    """What its steps were depended on how many there are; nothing is touched."""
    config = small(steps=3, **values)
    train(config, tmp_path / "run")
    before = (tmp_path / "run" / MANIFEST).read_bytes()
    with pytest.raises(Refusal, match=named):
        train(config.with_values({"steps": steps}), tmp_path / "run", resume_from=tmp_path / "run")
    assert (tmp_path / "run" / MANIFEST).read_bytes() == before
    assert check_seal(tmp_path / "run") == []


def test_another_folder_goes_on_from_it(tmp_path: Path) -> None:
    train(small(steps=3), tmp_path / "short")
    before = (tmp_path / "short" / ADAPTER / "adapter_model.safetensors").read_bytes()
    train(small(), tmp_path / "long", resume_from=tmp_path / "short")
    train(small(), tmp_path / "straight")
    assert_same_run(tmp_path / "long", tmp_path / "straight")
    assert (tmp_path / "short" / ADAPTER / "adapter_model.safetensors").read_bytes() == before
