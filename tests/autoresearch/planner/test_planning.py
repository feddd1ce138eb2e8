"""The planning graph: each repair takes its edge, is named, and leaves a plan that can answer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from autoresearch.planner import planning
from autoresearch.planner.planning import Drafted, plan_study
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that a run of the graph passes, in order."""
    passed: list[str] = []
    for name in ("recall", "draft", "lint", "repair"):
        node = getattr(planning, name)

        def noting(*args: Any, _name: str = name, _node: Any = node, **more: Any) -> Any:
            passed.append(_name)
            return _node(*args, **more)

        noting.__annotations__ = node.__annotations__
        noting.__signature__ = __import__("inspect").signature(node)  # type: ignore[attr-defined]
        monkeypatch.setattr(planning, name, noting)
    return passed


def planned(
    monkeypatch: pytest.MonkeyPatch,
    options: Mapping[str, Any] = MappingProxyType({}),
    **intent: Any,
) -> Drafted:
    """What the graph makes of an intent that some planner filled."""
    asked = Intent.model_validate({"topic": "x", "playbook": "factor-sweep", **intent})
    monkeypatch.setattr(planning, "planner_named", lambda name: lambda question: asked)
    return plan_study(StartOptions(topic="x", **options))


def names(drafted: Drafted) -> list[str]:
    return [repair.name for repair in drafted.intent.repairs]


def test_a_sound_question_takes_no_repair(steps: list[str]) -> None:
    drafted = plan_study(StartOptions(topic="best lora rank for RL"))
    assert steps == ["recall", "draft", "lint"]
    assert drafted.intent.repairs == ()


def test_a_requirement_is_added(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The upper clip bound acts only where a batch feeds several updates."""
    drafted = planned(monkeypatch, factors=[AskedFactor(name="clip_higher")])
    (repair,) = drafted.intent.repairs
    assert repair.name == "add a requirement"
    assert drafted.plan.train.batch.updates > 1
    assert repair.note in drafted.plan.notes
    assert steps == ["recall", "draft", "lint", "repair", "lint"]


def test_a_tuned_factor_under_test_is_dropped(steps: list[str]) -> None:
    drafted = plan_study(StartOptions(topic="learning rate and batch size"))
    assert "drop a tuned factor that is under test" in names(drafted)
    assert drafted.plan.tuning is None
    assert "repair" in steps
    assert "learning_rate is not tuned: it is part of the treatment" in drafted.plan.notes


def test_rollouts_are_fitted_to_the_groups(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drafted = planned(monkeypatch, factors=[AskedFactor(name="group_size", levels=(6, 10))])
    assert names(drafted)[0] == "fit the rollouts to the groups"
    assert drafted.plan.train.batch.rollouts % 30 == 0
    assert steps[-2:] == ["repair", "lint"]


def test_the_nearest_level_is_taken(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    drafted = planned(monkeypatch, factors=[AskedFactor(name="lora_rank", levels=(8, 100_000))])
    assert names(drafted)[0] == "take the nearest level"
    (rank,) = drafted.plan.treatments
    assert rank.levels[0] == 8
    assert isinstance(rank.levels[1], int)
    assert rank.levels[1] < 100_000
    assert any("100000 is" in note for note in drafted.plan.notes) or any(
        "100000 is" in repair.note for repair in drafted.intent.repairs
    )
    assert steps.count("repair") == len(drafted.intent.repairs)


def test_a_tuned_range_is_widened_to_the_recipes_own_value(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planner that holds another learning rate fixed has it tuned around that rate."""
    from autoresearch.playbook import Library
    from autoresearch.playbook.library import BUILT_IN

    library = Library((("built-in", BUILT_IN),))
    playbook = library.load("factor-sweep")
    hot = playbook.model_copy(update={"train": {**playbook.train, "optim.lr": 1e-2}})
    monkeypatch.setattr(planning, "checked", lambda library, ref: hot)
    drafted = planned(monkeypatch, factors=[AskedFactor(name="lora_rank", levels=(2, 8))])
    assert "widen a range" in names(drafted)
    tuning = drafted.plan.tuning
    assert tuning is not None
    assert (tuning.low, tuning.high) == (3e-4, 1e-2)
    assert any("tuned from 0.0003 to 0.01" in note for note in drafted.plan.notes)


def test_what_no_repair_can_put_right_is_refused(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Refusal, match="cannot act"):
        planned(
            monkeypatch,
            factors=[AskedFactor(name="clip_higher")],
            options={"set": {"batch.epochs": 1, "batch.minibatches": 1}},
        )


def test_repairs_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An intent that keeps needing the same repair is refused, not repaired for ever."""
    monkeypatch.setattr(Intent, "repair", lambda self, name, about: None)
    with pytest.raises(Refusal, match="plan: "):
        plan_study(StartOptions(topic="learning rate and batch size"))


def test_an_empty_topic_is_refused() -> None:
    with pytest.raises(Refusal, match="topic: it is empty"):
        plan_study(StartOptions(topic="  "))
