"""The live view and the plain lines, as text."""

from dataclasses import replace

import pytest
from support.commands import text_of
from support.synthetic_study import CONTROL, Shape, make_plan, make_study

from autoresearch.cli.progress import StudyProgress
from autoresearch.cli.screen import Lines, arm_table, ending, track
from autoresearch.run.study import Summary
from autoresearch.study.home import Home


@pytest.mark.parametrize("width", [80, 120])
def test_the_live_view_fits_the_terminal(tmp_path, width: int):
    progress = StudyProgress()
    progress.plan, progress.stage = make_plan(Shape()), "confirm"
    trials = make_study(Home(tmp_path), Shape(lost=(), diverged=())).trials
    progress.trials([replace(trials[-1], status="running"), *trials[:-1]])
    shown = text_of(arm_table(progress, narrow=width < 100), width)
    assert all(len(line) <= width for line in shown.splitlines())
    head, control, treatment = shown.splitlines()
    assert head.split() == ["adv_std", "trials", "step", "eval/acc"]
    assert control.split()[0] == "group"
    assert "1 failed" in control
    assert "11/11" in control
    assert "n=4" in control
    assert "starting" in treatment
    stages = text_of(track("confirm"), 80).splitlines()
    assert len(stages) == 1
    assert "✓ tune  ● confirm  decide" in stages[0]
    assert len(text_of(track("done"), 80).splitlines()) == 1


def test_plain_lines_say_each_change_once_and_no_history(tmp_path):
    trials = make_study(Home(tmp_path), Shape(lost=(), diverged=())).trials
    said: list[str] = []
    lines = Lines(said.append, StudyProgress())
    lines.plan(make_plan(Shape()))
    lines.trials(trials[:3])
    assert said == []
    confirm = [t for t in trials if t.spec.phase == "confirm" and t.spec.arm == CONTROL]
    done = next(t for t in confirm if t.status == "finished")
    failed = next(t for t in confirm if t.status == "failed")
    for status in ("pending", "running"):
        lines.trials([replace(done, status=status), replace(failed, status=status)])
    lines.trials([done, failed])
    lines.trials([done, failed])
    assert len(said) == 4
    assert f"seed {done.spec.seed} running" in said[0]
    assert "eval/acc 0." in said[2]
    assert "out of memory" in said[3]


def test_an_ending_says_what_to_do_next():
    verdict = {"id": "H1", "verdict": "supported", "effect": 0.06, "interval": [0.02, 0.1], "n": 5}
    summary = Summary("s1", "done", "", "/r/report.md", "/r/claims.json", (verdict,), 99.0, 19, 0)
    shown = "\n".join(line.plain for line in ending(summary))
    assert "H1  supported  effect +0.060, interval +0.020 to +0.100" in shown
    assert "/r/report.md" in shown
    assert "autoresearch report verify s1" in shown
    cut = replace(summary, end="budget", cause="budget exhausted: 9 s spent of 8 s")
    assert "autoresearch resume s1 --budget" in "\n".join(line.plain for line in ending(cut))
