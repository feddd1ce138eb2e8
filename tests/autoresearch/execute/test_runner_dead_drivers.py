"""A driver that dies, on a local Ray: the next one goes on where it stopped."""

import os
import signal
import time
from pathlib import Path

import pytest
from support.small_trials import STUDY, holding, specs
from support.trial_drivers import driver, rows, trials, wait_until

from autoresearch.study.endings import Leased
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.cluster.cluster import Cluster
from swarm.disk.folder import check_seal, read_rows

pytestmark = pytest.mark.faults

STEPS = 30  # 1.5 s


def test_a_killed_driver_is_followed_by_one_that_repeats_nothing(
    tmp_path: Path, cluster: Cluster
) -> None:
    seeds = (1, 2, 3, 4)
    with driver(tmp_path, "local", STEPS, *seeds) as process:

        def half_way() -> bool:
            known = trials(tmp_path)
            done = sum(trial.status == "finished" for trial in known.values())
            return done == 2 and min(rows(known[3]), rows(known[4])) > 5

        wait_until(half_way, process)
        with pytest.raises(Leased), Ledger.open(Home(tmp_path)).hold(STUDY):
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = trials(tmp_path)
        assert [before[seed].status for seed in seeds] == ["finished"] * 2 + ["running"] * 2

        with holding(tmp_path, cluster) as turn:  # at once, while old workers may still write
            turn.run(specs(*seeds, steps=STEPS))
    after = trials(tmp_path)
    assert {trial.status for trial in after.values()} == {"finished"}
    assert [len(after[seed].attempts) for seed in seeds] == [1, 1, 2, 2]
    assert (after[1], after[2]) == (before[1], before[2])
    for seed in (3, 4):
        first, second = after[seed].attempts
        assert (first.status, first.charged, first.cause) == ("lost", False, "its driver ended")
        assert next(read_rows(second.folder / "events.jsonl"))["detail"]["resumed_at"] > 5
        assert check_seal(second.folder) == []
        steps = [row["step"] for row in read_rows(second.folder / "metrics.jsonl")]
        assert steps == list(range(STEPS + 1))


def test_an_attempt_that_was_sealed_unnoticed_is_accepted(tmp_path: Path, cluster: Cluster) -> None:
    with driver(tmp_path, "local", STEPS, 1) as process:
        wait_until(lambda: 1 in trials(tmp_path) and rows(trials(tmp_path)[1]) > 1, process)
        os.kill(process.pid, signal.SIGSTOP)  # the trial goes on, its driver notices nothing
        (attempt,) = trials(tmp_path)[1].attempts
        while not (attempt.folder / "manifest.json").exists():
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert trials(tmp_path)[1].status == "running"
    with holding(tmp_path, cluster) as turn:
        turn.run(specs(1, steps=STEPS))
    (accepted,) = trials(tmp_path)[1].attempts
    assert accepted.status == "finished"
    assert accepted.manifest is not None
    assert 1 < accepted.seconds < 20


def test_ctrl_c_reaches_the_driver_and_not_its_trials(tmp_path: Path) -> None:
    with driver(tmp_path, "local", 1000, 1, 2) as process:
        wait_until(
            lambda: len(trials(tmp_path)) == 2 and min(map(rows, trials(tmp_path).values())) > 1,
            process,
        )
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it
        output, _ = process.communicate(timeout=30)
        assert (process.returncode, output) == (3, "")
    paused = trials(tmp_path)
    assert {trial.status for trial in paused.values()} == {"pending"}
    assert {trial.attempts[0].cause for trial in paused.values()} == {"paused: received SIGINT"}
