"""Another planner makes a study through `--planner`, and nothing after it knows."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.cli import app
from autoresearch.planner.planners import planner_named
from autoresearch.planner.planning import plan_study
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal

PLANNER = '''
from autoresearch.study.intent import AskedFactor, Intent


def ask(question):
    """Asks about the rank, whatever the topic says."""
    words = question.options.topic.split()
    return Intent(
        topic=question.options.topic,
        playbook="factor-sweep",
        factors=(AskedFactor(name="lora_rank", levels=(2, 8), control=2, direction="greater"),),
        held={"group_size": 4},
        task="sort",
        metric="reward/mean",
        seed=len(words),
        left_aside=(f"{len(words)} words were not read",),
        known=tuple(found["text"] for found in question.findings),
    )


number = 3
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PLANNER)
    return path


def test_its_intent_becomes_the_plan(file: Path) -> None:
    options = StartOptions(topic="anything at all", planner=f"{file}:ask", profile="smoke")
    drafted = plan_study(options, findings=[{"text": "rank 2 was enough"}])
    plan = drafted.plan
    assert drafted.intent.planner == plan.planner == f"{file}:ask"
    assert [(f.name, f.levels, f.control) for f in plan.treatments] == [("lora_rank", (2, 8), 2)]
    assert plan.tasks == ("sort",)
    assert plan.train.batch.group_size == 4
    assert [(h.metric, h.direction) for h in plan.hypotheses] == [("reward/mean", "greater")]
    assert plan.notes[0] == "3 words were not read"
    assert "rank 2 was enough" in plan.notes


def test_the_command_line_takes_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    words = ["autoresearch", "start", "x", "--planner", "mine.py:ask", "--dry-run", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 0
    document = json.loads(capsys.readouterr().out)
    assert document["planner"] == f"{file}:ask"
    assert document["left_aside"] == ["1 words were not read"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ofline", "did you mean offline"),
        ("nobody.py:ask", "there is no file"),
        ("{file}:missing", "has no function 'missing'"),
        ("{file}:number", "has no function 'number'"),
        ("{file}", "is unknown"),
    ],
)
def test_one_that_is_not_there_is_refused(file: Path, name: str, problem: str) -> None:
    with pytest.raises(Refusal, match=problem):
        planner_named(name.format(file=file))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("1 / 0", r"it raised ZeroDivisionError: division by zero \(broken\.py:2\); correct"),
        ("raise SystemExit(0)", r"it raised SystemExit: 0 \(broken\.py:2\)"),
        ("return int('x')", r"ValueError: invalid literal .* \(broken\.py:2\)"),
        ("return 'GRPO'", "made a str of the question; return an Intent"),
    ],
)
def test_one_that_fails_is_refused_with_its_line(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(f"def ask(question):\n    {body}\n")
    options = StartOptions(topic="x", planner=f"{path}:ask")
    with pytest.raises(Refusal, match=problem) as end:
        plan_study(options)
    assert (end.value.field, str(end.value).count("\n")) == ("planner", 0)


def test_a_file_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    for text, problem in [("def ask(:", "SyntaxError"), ("import nothing_here", "broken.py:1")]:
        path.write_text(text)
        with pytest.raises(Refusal, match=problem):
            planner_named(f"{path}:ask")


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip))
def test_raw_words_of_the_topic_plan_nothing(words: str) -> None:
    """Two topics that a planner reads alike make plans alike, but for the topic itself."""
    from autoresearch.planner.compose import compose
    from autoresearch.playbook import Library
    from autoresearch.playbook.names import checked
    from autoresearch.study.intent import AskedFactor, Intent

    playbook = checked(Library.locate(), "factor-sweep")
    asked = (AskedFactor(name="kl_coef"),)
    one, other = (Intent(topic=t, playbook=playbook.id, factors=asked) for t in (words, "kl?"))
    a, b = compose(playbook, one), compose(playbook, other)
    assert a.model_copy(update={"topic": b.topic}) == b
