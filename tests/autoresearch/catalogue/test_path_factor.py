"""Any path of a config as a factor."""

import pytest
from support.plans import plan_for

from autoresearch.catalogue import FACTORS, PathFactor, factor, name_of
from swarm.config.base import JsonValue
from swarm.errors import Refusal


def test_a_path_that_the_catalogue_does_not_name_is_a_factor() -> None:
    beta = factor("optim.beta2")
    assert isinstance(beta, PathFactor)
    assert (beta.kind, beta.sets, beta.levels) == ("float", ("optim.beta2",), (0.999,))
    assert beta.check(0) == 0.0
    assert beta.assign(0.95) == {"optim.beta2": 0.95}


def test_what_the_catalogue_knows_of_a_path_holds_for_it() -> None:
    known = FACTORS["group_size"]
    found = factor("batch.group_size")
    assert found.traps == known.traps
    assert found.check(4096) == 4096  # the catalogue's range is no fence


@pytest.mark.parametrize(
    ("named", "levels", "name"),
    [
        ("optim.lr", (1e-4, 1e-3), "learning_rate"),
        ("batch.group_size", (2, 4096), "batch.group_size"),
        ("group_size", (2, 4), "group_size"),
        ("task.args.max", (3, 5), "task.args.max"),
        ("policy.kind", ("lora", "full"), "policy.kind"),
    ],
)
def test_a_path_goes_by_its_name_where_that_allows_the_levels(
    named: str, levels: tuple[JsonValue, ...], name: str
) -> None:
    assert name_of(named, levels) == name


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("optim.learning_rate", "optim.lr"),
        ("batch.groupsize", "batch.group_size"),
        ("seed.x", "not a setting"),
        ("model.ref", "--model"),
        ("task.ref", "--task"),
        ("evaluation.every", "measured alike"),
        ("device", "not in the catalogue"),
        ("task.time_limit", "bounds waits"),
    ],
)
def test_a_path_that_arms_cannot_differ_in_is_refused_with_the_next_step(
    path: str, words: str
) -> None:
    with pytest.raises(Refusal) as refused:
        factor(path)
    assert refused.value.field == "factor"
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("path", "level"),
    [("optim.beta2", 1.5), ("optim.beta2", "high"), ("policy.kind", "half"), ("batch.epochs", 1.5)],
)
def test_what_a_path_cannot_hold_is_no_level(path: str, level: JsonValue) -> None:
    with pytest.raises(Refusal, match=path):
        factor(path).check(level)


def test_arms_differ_in_the_path() -> None:
    plan = plan_for("anything at all", levels={"optim.beta2": (0.95, 0.99)})
    configs = [plan.train_config(arm.id, plan.tasks[0], 0, {}) for arm in plan.arms]
    assert [config.optim.beta2 for config in configs] == [0.95, 0.99]
    assert plan.treatments[0].control == 0.95


def test_one_level_is_compared_with_the_default() -> None:
    plan = plan_for("anything at all", levels={"optim.beta2": (0.95,)})
    assert plan.treatments[0].levels == (0.999, 0.95)
    with pytest.raises(Refusal, match="two levels"):
        plan_for("anything at all", levels={"task.args.max": (5,)})


def test_an_argument_of_a_task_is_under_test() -> None:
    plan = plan_for("anything at all", levels={"task.args.max": (5, 7)}, task="reverse")
    configs = [plan.train_config(arm.id, "reverse", 0, {}) for arm in plan.arms]
    assert [config.task.args["max"] for config in configs] == [5, 7]
    with pytest.raises(Refusal, match="shaped"):
        plan_for("anything at all", levels={"task.args.shaped": (True, False)}, task="reverse")
