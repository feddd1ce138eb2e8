"""A cluster that outlives its drivers: runs are adopted, and nodes may be lost."""

import os
import signal
import time
from pathlib import Path

import pytest
from support import fault_entries as entries
from support.child_path import child_path
from support.small_trials import STUDY, holding, specs
from support.trial_drivers import driver, rows, trials, wait_until

from autoresearch.study.home import Home
from swarm.cluster.cluster import Cluster
from swarm.disk.folder import check_seal, read_rows

pytestmark = pytest.mark.cluster


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch):
    """A standing Ray whose head runs no trials, with one node of two cores."""
    import ray.cluster_utils

    monkeypatch.setenv("PYTHONPATH", child_path())
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    standing = ray.cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    standing.add_node(num_cpus=2)
    yield standing
    standing.shutdown()


def join(standing, root: Path) -> Cluster:
    home = Home(root)
    namespace, log = home.ray_namespace(STUDY), home.log(STUDY)
    return Cluster.start(standing.address, namespace, log, None, entries.ENTRY)


def free_cores(cluster: Cluster, expected: int) -> bool:
    """Whether that many cores become free within some seconds."""
    for _ in range(100):
        if cluster.capacity() == expected:
            return True
        time.sleep(0.1)
    return False


def test_trials_outlive_a_killed_driver_and_are_adopted(standing, tmp_path: Path) -> None:
    steps = 250  # 12 s
    with driver(tmp_path, standing.address, steps, 1, 2, 3) as process:

        def two_run() -> bool:
            known = trials(tmp_path)
            return len(known) == 3 and min(rows(known[1]), rows(known[2])) > 3

        wait_until(two_run, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    orphan = trials(tmp_path)[1]
    written = rows(orphan)
    with join(standing, tmp_path) as cluster, holding(tmp_path, cluster) as turn:
        assert rows(orphan) > written
        turn.run(specs(1, 2, 3, steps=steps))
        assert sorted(event["attempt"] for event in turn.events("adopted")) == [1, 1]
        assert free_cores(cluster, 2)
    for trial in trials(tmp_path).values():
        (attempt,) = trial.attempts
        assert attempt.status == "finished"
        assert next(read_rows(attempt.folder / "events.jsonl"))["detail"]["resumed_at"] == 0
        assert check_seal(attempt.folder) == []


def test_a_run_that_ended_without_a_driver_is_accepted_and_its_core_freed(
    standing, tmp_path: Path
) -> None:
    with driver(tmp_path, standing.address, 30, 1) as process:
        wait_until(lambda: 1 in trials(tmp_path) and rows(trials(tmp_path)[1]) > 1, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    (attempt,) = trials(tmp_path)[1].attempts
    while not (attempt.folder / "manifest.json").exists():
        time.sleep(0.1)
    with join(standing, tmp_path) as cluster, holding(tmp_path, cluster) as turn:
        assert cluster.capacity() == 1
        turn.run(specs(1, steps=30))
        assert free_cores(cluster, 2)
    (accepted,) = trials(tmp_path)[1].attempts
    assert accepted.status == "finished"


def test_a_paused_study_leaves_nothing_on_the_cluster(standing, tmp_path: Path) -> None:
    with driver(tmp_path, standing.address, 1000, 1, 2) as process:
        wait_until(
            lambda: len(trials(tmp_path)) == 2 and min(map(rows, trials(tmp_path).values())) > 1,
            process,
        )
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
        assert (process.returncode, output) == (3, "")
    with join(standing, tmp_path) as cluster:
        assert free_cores(cluster, 2)
    assert {trial.status for trial in trials(tmp_path).values()} == {"pending"}


def test_a_trial_on_a_lost_node_goes_on_elsewhere(standing, tmp_path: Path) -> None:
    doomed = standing.worker_nodes.copy().pop()
    with driver(tmp_path, standing.address, 100, 1) as process:
        wait_until(lambda: 1 in trials(tmp_path) and rows(trials(tmp_path)[1]) > 5, process)
        standing.add_node(num_cpus=1)
        standing.remove_node(doomed, allow_graceful=False)
        output, _ = process.communicate(timeout=90)
        assert (process.returncode, output) == (0, "")
    first, second = trials(tmp_path)[1].attempts
    assert (first.status, second.status) == ("lost", "finished")
    assert first.charged
    assert next(read_rows(second.folder / "events.jsonl"))["detail"]["resumed_at"] > 5


def test_auto_finds_the_cluster_that_the_environment_names(
    standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", standing.address)
    with Cluster.start("auto", STUDY, tmp_path / "ray.log", None) as cluster:
        assert cluster.capacity() == 2


def test_a_trial_takes_a_gpu_where_there_is_one(standing, tmp_path: Path) -> None:
    (node,) = standing.worker_nodes
    standing.remove_node(node)
    standing.add_node(num_cpus=2, num_gpus=1)  # as far as Ray knows
    with join(standing, tmp_path) as cluster, holding(tmp_path, cluster) as turn:
        assert free_cores(cluster, 2)
        assert [cluster.capacity(device) for device in ("cuda", "auto", "cpu")] == [1, 1, 2]
        turn.run(specs(1, 2))
        assert max(statuses.count("running") for statuses in turn.notebook.statuses) == 1
    for trial in trials(tmp_path).values():
        assert trial.folder is not None
        started = next(read_rows(trial.folder / "events.jsonl"))["detail"]
        assert (started["gpus"], started["threads"]) == ("0", "1")
