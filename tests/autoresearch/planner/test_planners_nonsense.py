"""What a user's planner may not say, and what no planner decides."""

from pathlib import Path
from typing import Any

import pytest

from autoresearch.planner.planning import plan_study
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal

PLANNER = """
from autoresearch.study.intent import AskedFactor, Intent, Repair

def ask(question):
    usual = dict(topic="mine", playbook="factor-sweep", factors=(AskedFactor(name="lora_rank"),))
    return {made}
"""


def asking(folder: Path, made: str, **options: Any) -> Any:
    path = folder / "mine.py"
    path.write_text(PLANNER.replace("{made}", made))
    return plan_study(StartOptions(topic="x", planner=f"{path}:ask", **options))


@pytest.mark.parametrize(
    ("option", "value", "planned"),
    [
        ("model", "smollm2-135m-instruct", lambda d: d.plan.train.model.ref),
        ("task", "sort", lambda d: d.plan.tasks[0]),
        (
            "set",
            {"optim.grad_clip": 0.7},
            lambda d: {"optim.grad_clip": d.plan.train.optim.grad_clip},
        ),
        ("profile", "smoke", lambda d: d.plan.profile),
        ("seed", 7, lambda d: d.plan.seeds.confirm[0] // 1000),
        ("playbook", "kl-penalty", lambda d: d.plan.playbook),
        ("budget_seconds", 7000.0, lambda d: d.plan.budget.seconds),
    ],
)
def test_what_the_user_gives_no_planner_decides(
    tmp_path: Path, option: str, value: Any, planned: Any
) -> None:
    assert planned(asking(tmp_path, "Intent(**usual)", **{option: value})) == value


def test_a_planner_decides_what_is_not_given(tmp_path: Path) -> None:
    drafted = asking(tmp_path, "Intent(**usual, task='sort', profile='smoke', seed=3)")
    assert (drafted.plan.tasks, drafted.plan.profile) == (("sort",), "smoke")
    assert drafted.plan.seeds.confirm[0] == 3200
    assert drafted.plan.topic == "x"


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ("Intent(**usual, repairs=(Repair(name='widen a range', about='x', note=''),))", "repairs"),
        ("Intent(**usual, set={'batch.rollouts': 64})", "filled set, which is the user's"),
        ("Intent(**usual).model_copy(update={'seed': 'x'})", "seed"),
        ("Intent(**usual).model_copy(update={'profile': 'fast'})", "profile"),
        ("Intent(**usual).model_copy(update={'colour': 1})", "colour"),
        ("Intent.model_construct(topic='x')", "playbook"),
        ("Intent(**usual).model_copy(update={'held': {'kl_coef': object()}})", "held.kl_coef"),
        ("Intent(**usual, seed=-1)", "seed"),
        ("Intent(**usual, seed=2**31)", "seed"),
        ("Intent(**usual, budget_seconds=float('inf'))", "budget_seconds"),
        ("Intent(**usual, metric='')", "metric"),
        ("Intent(**usual, model=' ')", "model"),
        ("Intent(**usual, left_aside=('',))", "left_aside"),
        ("Intent(**usual, parameters={'rolouts': 64})", "no rolouts"),
        ("Intent(**usual, held={'lora_rank': 8})", "lora_rank is under test too"),
        ("Intent(**usual, held={'group_size': 2.5})", "group_size"),
        ("Intent(**{**usual, 'factors': usual['factors'] * 2})", "under test twice"),
        ("Intent(**{**usual, 'factors': (AskedFactor(name='lora_rank', control=8),)})", "control"),
        (
            "Intent(**{**usual, 'factors': (AskedFactor(name='kl_coef', levels=(20, 50)),)})",
            "one level",
        ),
        (
            "Intent(**{**usual, 'factors': (AskedFactor(name='kl_coef', levels=(1e999, 1)),)})",
            "finite",
        ),
    ],
)
def test_nonsense_is_refused_in_one_line(tmp_path: Path, made: str, problem: str) -> None:
    with pytest.raises(Refusal, match=problem) as end:
        asking(tmp_path, made)
    assert "\n" not in str(end.value)
    assert end.value.next_step


@pytest.mark.parametrize("error", ["GeneratorExit", "BaseException", "Mute"])
def test_whatever_it_raises_is_its_own(tmp_path: Path, error: str) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n"
        f"def ask(question):\n    raise {error}()\n"
    )
    with pytest.raises(Refusal, match=f"it raised {error}"):
        plan_study(StartOptions(topic="x", planner=f"{tmp_path}/mine.py:ask"))


def test_planning_leaves_nothing_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    asking(tmp_path, "Intent(**usual)")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_a_level_that_moved_is_noted(tmp_path: Path) -> None:
    asked = "AskedFactor(name='kl_coef', levels=(0.0, 50.0))"
    drafted = asking(tmp_path, f"Intent(**{{**usual, 'factors': ({asked},)}})")
    (moved,) = [r.note for r in drafted.intent.repairs if r.name == "take the nearest level"]
    assert moved in drafted.plan.notes


def test_a_topic_that_is_not_text_is_refused() -> None:
    with pytest.raises(Refusal, match="not UTF-8"):
        plan_study(StartOptions(topic="\udcff group size"))
