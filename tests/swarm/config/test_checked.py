"""Settings by dotted path: what is refused."""

import pytest

from swarm.config.base import EVERY
from swarm.config.checked import check_path, check_value, configure, known_paths
from swarm.config.paths import get
from swarm.config.train import TrainConfig
from swarm.errors import Refusal


def test_every_known_path_leads_to_a_value() -> None:
    dumped = TrainConfig().model_dump(context=EVERY)
    for path in known_paths():
        assert not isinstance(get(dumped, path), dict), path
    assert {"steps", "optim.lr", "algorithm.correction.kind"} <= set(known_paths())
    assert "task.args" not in known_paths()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("lr", "did you mean optim.lr?"),
        ("optim.lrr", "did you mean optim.lr?"),
        ("algorithm.rank", "did you mean policy.rank?"),
        ("nonsense", "known: "),
    ],
)
def test_an_unknown_path_is_refused_with_what_was_meant(path: str, said: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_path(path, "set")
    assert refused.value.field == "set"
    assert refused.value.problem == f"{path} is not a setting of a training run"
    assert refused.value.next_step.startswith(said)


@pytest.mark.parametrize("value", [float("inf")])
def test_a_number_that_is_not_finite_is_refused_by_its_option(value: float) -> None:
    with pytest.raises(Refusal, match=r"set: optim\.lr: Input should be a finite number"):
        check_value("optim.lr", value, "set")


def test_a_tasks_own_arguments_are_free() -> None:
    check_path("task.args.anything", "set")
    config = configure(TrainConfig(), {"task.args.min": 3}, "set")
    assert config.task.args == {"min": 3}


def test_a_value_that_fits_no_config_is_refused() -> None:
    check_value("optim.lr", 1e-4, "set")
    with pytest.raises(Refusal, match=r"set: optim\.lr: .*greater than 0"):
        check_value("optim.lr", -1, "set")


def test_a_value_that_only_clashes_with_others_is_checked_with_them() -> None:
    check_value("batch.rollouts", 100, "set")
    with pytest.raises(
        Refusal, match=r"set: batch: rollouts 100 is not a multiple.*; give another"
    ):
        configure(TrainConfig(), {"batch.rollouts": 100}, "set")
    both = configure(TrainConfig(), {"batch.rollouts": 100, "batch.group_size": 4}, "set")
    assert both.batch.prompts == 25
