"""Topics are put to the real planner, and its answers are judged as they come."""

from pathlib import Path

import pytest

from benchmarks.questions.ask import ask
from benchmarks.questions.check import Answer, judge
from benchmarks.questions.entries import Entry

RANKS = Entry.model_validate(
    {"topic": "rank 4 vs 64", "answer": "plan", "factors": {"lora_rank": [4, 64]}}
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_right_as_it_is_and_wrong_when_anything_asked_for_is_changed(
    folder: Path,
) -> None:
    answer = ask(RANKS, folder)
    assert answer.plan is not None
    assert judge(RANKS, answer).outcome == "right"
    (rank,) = [f for f in answer.plan["factors"] if f["role"] == "treatment"]
    for changed in (
        [],
        [{**rank, "levels": [4, 32]}],
        [{**rank, "name": "group_size"}],
        [rank, {**rank, "name": "group_size"}],
    ):
        assert judge(RANKS, Answer(plan={**answer.plan, "factors": changed})).outcome == "silent"


def test_the_command_is_asked_where_there_are_options(folder: Path) -> None:
    entry = RANKS.model_copy(update={"options": ["--set", "steps=30"], "steps": 30})
    answer = ask(entry, folder)
    assert answer.plan is not None
    assert answer.plan["settings"]["steps"] == 30
    assert judge(entry, answer).outcome == "right"
    assert judge(entry.model_copy(update={"steps": 40}), answer).outcome == "silent"


def test_a_refusal_is_an_answer_from_either(folder: Path) -> None:
    nonsense = Entry(topic="parsnips", answer="refuse", names=["topic"])
    assert ask(nonsense, folder).refusal.startswith("topic: ")
    by_command = nonsense.model_copy(update={"options": ["--profile", "smoke"]})
    assert ask(by_command, folder).refusal == ask(nonsense, folder).refusal
