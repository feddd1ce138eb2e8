"""`--set path=value` of both command lines."""

import pytest

from swarm.config.assignments import assignments
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
