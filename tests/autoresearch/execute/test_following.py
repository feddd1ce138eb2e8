"""An attempt as its driver sees it."""

import math
from pathlib import Path

import pytest
from support.plans import trial_spec

from autoresearch.execute.following import Following, last_values
from autoresearch.study.facts import AttemptFacts
from swarm.disk.folder import RunWriter


@pytest.fixture
def following(tmp_path: Path) -> Following:
    return Following(trial_spec(1), AttemptFacts(1, tmp_path / "attempt", "running"))


def test_every_version_gives_its_job_one_name(following: Following) -> None:
    """A trial on a standing cluster outlives an upgrade of the program."""
    assert following.job == f"{following.spec.id}-1"


def test_rows_come_once_and_are_kept(following: Following) -> None:
    assert following.read() == []
    writer = RunWriter(following.attempt.folder)
    writer.metrics(0, 0.0, {"reward/mean": 0.25})
    assert [row["step"] for row in following.read()] == [0]
    writer.metrics(1, 1.0, {"reward/mean": 0.5})
    assert [row["step"] for row in following.read()] == [1]
    assert following.read() == []
    assert [row["step"] for row in following.rows] == [0, 1]


def test_waiting_for_a_core_is_no_part_of_its_time(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("autoresearch.execute.following.time.monotonic", lambda: now[0])
    assert following.seconds() == 0
    now[0] = 130.0
    assert following.seconds() == 0
    following.attempt.folder.mkdir()
    assert following.seconds() == 0
    now[0] = 137.5
    assert following.seconds() == 7.5


def test_the_last_finite_value_of_each_metric_counts(following: Following) -> None:
    writer = RunWriter(following.attempt.folder)
    writer.metrics(0, 0.0, {"eval/acc": 0.25, "completions/mean_length_wrong": 4.0})
    writer.metrics(1, 1.0, {"eval/acc": 0.5, "completions/mean_length_wrong": math.nan})
    writer.metrics(2, 2.0, {"reward/mean": 0.75})
    assert last_values(following.read()) == {
        "eval/acc": 0.5,
        "completions/mean_length_wrong": 4.0,
        "reward/mean": 0.75,
    }


def test_what_is_not_a_number_is_left_out() -> None:
    row = {"metrics": {"a": 1.0, "b": math.nan, "c": math.inf, "d": 0}}
    assert last_values([row]) == {"a": 1.0, "d": 0}
