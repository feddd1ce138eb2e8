"""Trials on a real local Ray: what finishes, what is retried, what is given up."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from support import fault_entries as entries
from support.small_trials import STUDY, Turn, holding, specs

import swarm
from autoresearch.execute.projector import Projector
from autoresearch.study import plan
from autoresearch.study.endings import BudgetExhausted, Paused, TaskFailed
from swarm.cluster.cluster import Cluster
from swarm.disk.folder import check_seal, manifest_digest, read_rows


@pytest.fixture
def turn(tmp_path: Path, cluster: Cluster):
    with holding(tmp_path, cluster) as turn:
        yield turn


def test_trials_run_side_by_side_and_are_not_run_again(turn: Turn) -> None:
    turn.run(specs(1, 2, 3))
    first = turn.trials()
    assert {trial.status for trial in first.values()} == {"finished"}
    for trial in first.values():
        (attempt,) = trial.attempts
        assert attempt.folder == turn.home.attempt(STUDY, trial.spec.id, 1)
        assert check_seal(attempt.folder) == []
        started = next(read_rows(attempt.folder / "events.jsonl"))["detail"]
        assert started["trainer"] == swarm.__file__
        assert attempt.manifest == manifest_digest(attempt.folder)
        assert 0 < attempt.seconds < 30
        assert attempt.summary == {
            "reward/mean": 1.0,
            "policy/entropy": 1.0,
            "eval/acc": pytest.approx(0.25 + 0.5 * 5 / 6),
        }
        assert turn.notebook.steps[trial.spec.id][-1] == 6
        assert turn.notebook.values[trial.spec.id] == attempt.summary
    assert max(statuses.count("running") for statuses in turn.notebook.statuses) == 2
    assert turn.notebook.statuses[-1] == ("finished",) * 3

    started = time.monotonic()
    turn.run(specs(1, 2, 3))
    assert time.monotonic() - started < 1
    assert turn.trials() == first


def test_failures_are_retried_then_given_up_and_the_others_finish(turn: Turn) -> None:
    raises, killed_once, diverges = entries.RAISES, entries.KILLED_ONCE, entries.DIVERGES
    turn.run(specs(raises, killed_once, diverges, 1))
    trials = turn.trials()
    assert {seed: trial.status for seed, trial in trials.items()} == {
        raises: "failed",
        killed_once: "finished",
        diverges: "diverged",
        1: "finished",
    }
    assert [a.status for a in trials[raises].attempts] == ["failed", "failed"]
    assert trials[raises].cause == f"ValueError: seed {raises} cannot learn"
    assert [a.status for a in trials[killed_once].attempts] == ["lost", "finished"]
    assert trials[killed_once].attempts[0].cause.startswith("the worker died")
    assert trials[diverges].cause == "non-finite gradient"
    assert len(trials[diverges].attempts) == 1

    resumed = trials[killed_once].attempts[1].folder
    assert next(read_rows(resumed / "events.jsonl"))["detail"]["resumed_at"] == 4
    assert [row["step"] for row in read_rows(resumed / "metrics.jsonl")] == list(range(7))
    failures = turn.events("attempt-failed")
    assert sorted((f["seed"], f["attempt"], f["retried"]) for f in failures) == [
        (raises, 1, True),
        (raises, 2, False),
        (killed_once, 1, True),
    ]
    assert any("given up" in note for note in turn.notebook.notes)


def test_a_failing_reward_ends_the_trials_without_a_retry(turn: Turn) -> None:
    with pytest.raises(TaskFailed, match=r"praise in mine.py .* on row 7; correct it and start"):
        turn.run([*specs(1, steps=400), *specs(entries.REWARD, 2)])
    trials = turn.trials()
    assert trials[entries.REWARD].status == "failed"
    assert [a.status for a in trials[entries.REWARD].attempts] == ["failed"]
    assert trials[entries.REWARD].cause.startswith("praise in mine.py returned 1 values")
    assert trials[1].status == "pending"
    assert not trials[1].attempts[0].charged
    assert [f["retried"] for f in turn.events("attempt-failed")] == [False]
    assert turn.cluster.poll(0) == []


def test_a_trial_that_hangs_is_timed_out(turn: Turn) -> None:
    turn.limits = plan.Budget(seconds=300, trial_seconds=4, retries=0)
    turn.run(specs(entries.HANGS, 1))
    trials = turn.trials()
    assert trials[entries.HANGS].status == "failed"
    assert trials[entries.HANGS].cause == "timed out after 4 s"
    assert trials[1].status == "finished"


def test_an_exhausted_budget_stops_the_trials_and_more_budget_goes_on(turn: Turn) -> None:
    trials = [*specs(1), *specs(2, 3, steps=60)]
    seconds = [0.0]

    def spend_all_half_way() -> None:
        steps = turn.notebook.steps.get(trials[1].id, [0])
        if turn.notebook.statuses[-1][0] == "finished" and steps[-1] > 5:
            seconds[0] = 1000.0

    turn.clock = lambda: seconds[0]
    turn.notebook.on_progress = spend_all_half_way
    with pytest.raises(BudgetExhausted, match="1000 s spent of 300 s"):
        turn.run(trials)
    stopped = turn.trials()
    assert stopped[1].status == "finished"
    assert stopped[2].status == "pending"
    assert (stopped[2].attempts[0].status, stopped[2].attempts[0].charged) == ("lost", False)
    assert turn.ledger.spent(STUDY) == 1000
    assert turn.cluster.poll(0) == []

    turn.limits = plan.Budget(seconds=2000, trial_seconds=60, retries=0)
    turn.run(trials)
    ended = turn.trials()
    assert {trial.status for trial in ended.values()} == {"finished"}
    assert len(ended[1].attempts) == 1
    second = ended[2].attempts[1].folder
    assert next(read_rows(second / "events.jsonl"))["detail"]["resumed_at"] > 5


def test_a_flag_file_pauses(turn: Turn) -> None:
    flag = turn.home.pause_flag(STUDY)
    flag.parent.mkdir(parents=True, exist_ok=True)
    flag.write_text("asked by the user\n")
    with pytest.raises(Paused, match="asked by the user"):
        turn.run(specs(1))
    assert turn.trials()[1].attempts == ()
    flag.unlink()
    turn.run(specs(1))
    assert turn.trials()[1].status == "finished"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_pauses_and_leaves_nothing_running(turn: Turn, number: signal.Signals) -> None:
    before = signal.getsignal(number)
    once = iter([number])
    turn.notebook.on_progress = lambda: [os.kill(os.getpid(), n) for n in once]
    with pytest.raises(Paused, match=number.name):
        turn.run(specs(1, 2, 3, steps=200))
    trials = turn.trials()
    assert {trial.status for trial in trials.values()} == {"pending"}
    assert len(trials[1].attempts) + len(trials[2].attempts) >= 1
    assert trials[3].attempts == ()
    assert signal.getsignal(number) is before


def test_alarms_are_noted_once(turn: Turn) -> None:
    turn.run(specs(entries.SICK, steps=12))
    (alarm,) = turn.events("alarm")
    assert (alarm["alarm"], alarm["seed"]) == ("non-finite", entries.SICK)
    assert sum("non-finite" in note for note in turn.notebook.notes) == 1


def test_a_failing_mlflow_does_not_fail_the_study(turn: Turn) -> None:
    with closing(sqlite3.connect(turn.home.runs / "mlflow.sqlite")) as newer, newer:
        newer.execute("CREATE TABLE experiments (id)")
        newer.execute("CREATE TABLE alembic_version (version_num)")
        newer.execute("INSERT INTO alembic_version VALUES ('of a newer MLflow')")
    with Projector(turn.home, STUDY, "a topic") as projector:
        turn.run(specs(1, 2, steps=100), projector)
    assert {trial.status for trial in turn.trials().values()} == {"finished"}
    assert "of a newer MLflow" in projector.problem
    assert len(turn.events("mlflow-failed")) == 1
