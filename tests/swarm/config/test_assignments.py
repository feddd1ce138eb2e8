"""`--set path=value` of both command lines."""

import pytest

from swarm.config.assignments import assignments, single_values
from swarm.errors import Refusal


def test_set_reads_yaml_scalars() -> None:
    pairs = ["optim.lr=3e-4", "batch.epochs=2", "task.reward=partial", "algorithm.clip_low=null"]
    assert assignments(pairs) == {
        "optim.lr": 3e-4,
        "batch.epochs": 2,
        "task.reward": "partial",
        "algorithm.clip_low": None,
    }


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["optim.lr"], "not an assignment"),
        (["=3"], "not an assignment"),
        (["a=[1, 2]"], "no single value"),
        (["optim.lr=1", "optim.lr=2"], "given twice"),
    ],
)
def test_bad_set(pairs: list[str], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        assignments(pairs)


def test_a_mapping_is_a_value_of_a_run_but_not_of_a_study() -> None:
    values = assignments(["task.args={min: 3, max: 5}", "steps=2"])
    assert values == {"task.args": {"min": 3, "max": 5}, "steps": 2}
    assert single_values({"steps": 2}) == {"steps": 2}
    with pytest.raises(Refusal, match=r"set: task\.args sets no single value"):
        single_values(values)
