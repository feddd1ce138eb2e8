"""What `status` shows of a study."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from support.synthetic_study import CONTROL, STUDY, TREATMENT, Shape, make_study

from autoresearch.cli.statusview import as_document, next_step, outcome, render, state
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home

ROW = {
    "hypothesis": "H1",
    "verdict": "supported",
    "effect": 0.06,
    "low": 0.02,
    "high": 0.1,
    "n": {CONTROL: 4, TREATMENT: 5},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("status"))


@pytest.fixture(scope="module")
def facts(home: Home) -> StudyFacts:
    return make_study(home, Shape())


@pytest.mark.parametrize(
    ("status", "driven", "expected"),
    [
        ("running", True, "running"),
        ("running", False, "interrupted"),
        ("paused", False, "paused"),
        ("done", False, "done"),
    ],
)
def test_a_study_that_nobody_drives_is_interrupted(
    facts: StudyFacts, status, driven: bool, expected: str
) -> None:
    assert state(replace(facts, status=status), driven) == expected


def test_the_document_counts_trials_and_arms(facts: StudyFacts, home: Home) -> None:
    document = as_document(facts, [ROW], True, home)
    assert document["trials"] == {
        "pending": 0,
        "running": 0,
        "finished": 17,
        "diverged": 1,
        "failed": 1,
    }
    by_arm = {arm["id"]: arm for arm in document["arms"]}
    assert (by_arm[CONTROL]["n"], by_arm[TREATMENT]["n"]) == (4, 5)
    assert by_arm[TREATMENT]["mean"] > by_arm[CONTROL]["mean"]
    assert document["report"] is None
    assert document["hypotheses"] == [outcome(ROW)]


def test_an_outcome_counts_the_smaller_arm_and_has_an_interval_only_with_both_ends() -> None:
    assert outcome(ROW) == {
        "id": "H1",
        "verdict": "supported",
        "effect": 0.06,
        "interval": [0.02, 0.1],
        "n": 4,
    }
    assert outcome({**ROW, "high": None})["interval"] is None


def test_the_view_names_question_state_verdicts_and_the_last_failure(facts: StudyFacts) -> None:
    console = Console(file=StringIO(), width=100, color_system=None)
    console.print(render(replace(facts, status="paused", cause="by the user"), [ROW], False))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert facts.plan is not None
    assert facts.plan.question in shown
    assert f"{STUDY} · paused: by the user" in shown
    assert "H1  supported" in shown
    assert "1 trials failed, the last one: RuntimeError: the worker was killed" in shown


def test_the_next_step_is_to_go_on_or_to_read(facts: StudyFacts, tmp_path: Path) -> None:
    home = Home(tmp_path)
    paused = replace(facts, status="paused")
    assert next_step(paused, False, home) == f"go on   autoresearch resume {STUDY}"
    assert next_step(replace(facts, status="running"), True, home) == ""
    report = home.report(STUDY) / "report.md"
    report.parent.mkdir(parents=True)
    report.write_text("")
    assert next_step(paused, False, home) == f"report  {report}"
