"""The planning graph: each repair takes its edge, is named, and leaves a plan that can answer."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from autoresearch.planner import planning
from autoresearch.planner.planning import Drafted, plan_study
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.study.intent import Intent
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
    folder: Path,
    factor: str,
    levels: tuple[int, ...] = (),
    options: Mapping[str, Any] = MappingProxyType({}),
    library: Library | None = None,
) -> Drafted:
    """What the graph makes of an intent that a planner of the user's own filled."""
    file = folder / "mine.py"
    file.write_text(
        "from autoresearch.study.intent import AskedFactor, Intent\n"
        "def ask(question):\n"
        f"    asked = AskedFactor(name={factor!r}, levels={levels!r})\n"
        "    return Intent(topic='x', playbook='factor-sweep', factors=(asked,))\n"
    )
    return plan_study(StartOptions(topic="x", planner=f"{file}:ask", **options), library)


def names(drafted: Drafted) -> list[str]:
    return [repair.name for repair in drafted.intent.repairs]


def test_a_sound_question_takes_no_repair(steps: list[str]) -> None:
    drafted = plan_study(StartOptions(topic="best lora rank for RL"))
    assert steps == ["recall", "draft", "lint"]
    assert drafted.intent.repairs == ()


def test_a_requirement_is_added(steps: list[str], tmp_path: Path) -> None:
    """The upper clip bound acts only where a batch feeds several updates."""
    drafted = planned(tmp_path, "clip_higher")
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


def test_rollouts_are_fitted_to_the_groups(steps: list[str], tmp_path: Path) -> None:
    drafted = planned(tmp_path, "group_size", (6, 10))
    assert names(drafted)[0] == "fit the rollouts to the groups"
    assert drafted.plan.train.batch.rollouts % 30 == 0
    assert steps[-2:] == ["repair", "lint"]


def test_the_nearest_level_is_taken(steps: list[str], tmp_path: Path) -> None:
    drafted = planned(tmp_path, "lora_rank", (8, 100_000))
    assert names(drafted)[0] == "take the nearest level"
    (rank,) = drafted.plan.treatments
    assert rank.levels[0] == 8
    assert isinstance(rank.levels[1], int)
    assert rank.levels[1] < 100_000
    assert any("100000 is" in note for note in drafted.plan.notes)
    assert steps.count("repair") == len(drafted.intent.repairs)


def test_a_tuned_range_is_widened_to_the_recipes_own_value(
    steps: list[str], tmp_path: Path
) -> None:
    """A playbook whose recipe has another learning rate has it tuned around that rate."""
    (tmp_path / "hot.yaml").write_text(
        "schema: autoresearch/playbook/v1\nid: hot\nextends: factor-sweep\ntitle: hot\n"
        "train: {optim.lr: 0.01}\n"
    )
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    drafted = planned(tmp_path, "lora_rank", (2, 8), {"playbook": "hot"}, library)
    assert "widen a range" in names(drafted)
    tuning = drafted.plan.tuning
    assert tuning is not None
    assert (tuning.low, tuning.high) == (3e-4, 1e-2)
    assert any("tuned from 0.0003 to 0.01" in note for note in drafted.plan.notes)


def test_what_no_repair_can_put_right_is_refused(tmp_path: Path) -> None:
    fixed = {"batch.epochs": 1, "batch.minibatches": 1}
    with pytest.raises(Refusal, match="cannot act"):
        planned(tmp_path, "clip_higher", options={"set": fixed})


def test_repairs_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An intent that keeps needing the same repair is refused, not repaired for ever."""
    monkeypatch.setattr(Intent, "repair", lambda self, name, about: None)
    with pytest.raises(Refusal, match="plan: "):
        plan_study(StartOptions(topic="learning rate and batch size"))


def test_an_empty_topic_is_refused() -> None:
    with pytest.raises(Refusal, match="topic: it is empty"):
        plan_study(StartOptions(topic="  "))
