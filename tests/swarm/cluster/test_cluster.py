"""Jobs as Ray actors on this machine."""

import time
from pathlib import Path

import psutil
import pytest
from support import fault_entries as entries
from support.child_path import child_path

from swarm.cluster.actor import Outcome, worker_log
from swarm.cluster.cluster import Cluster
from swarm.config.train import TrainConfig
from swarm.disk.folder import check_seal, read_rows
from swarm.errors import InfrastructureError


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", child_path())
        log = tmp_path_factory.mktemp("jobs") / "ray.log"
        with Cluster.start(None, "jobs", log, cpus=2, entry=entries.ENTRY) as cluster:
            yield cluster
        assert "Started a local Ray instance" in log.read_text()


def submit(cluster: Cluster, folder: Path, seed: int, steps: int = 4) -> Path:
    folder = folder / f"t{seed}" / "1"
    config = TrainConfig(seed=seed, steps=steps).model_dump(mode="json")
    cluster.submit(f"t{seed}", config, folder, None)
    return folder


def ends(cluster: Cluster, count: int, seconds: float = 30) -> list[tuple[str, Outcome]]:
    ended: list[tuple[str, Outcome]] = []
    limit = time.monotonic() + seconds
    while len(ended) < count:
        assert time.monotonic() < limit, ended
        ended += cluster.poll(0.2)
    return sorted(ended, key=lambda end: end[0])


def pid_of(folder: Path) -> int:
    while True:
        for event in read_rows(folder / "events.jsonl"):
            return event["detail"]["pid"]
        time.sleep(0.05)


def test_jobs_run_side_by_side_and_report_how_they_end(
    cluster: Cluster, tmp_path: Path, capfd
) -> None:
    assert cluster.capacity() == cluster.capacity("auto") == 2
    with pytest.raises(InfrastructureError, match="no GPU"):
        cluster.capacity("cuda")
    good = submit(cluster, tmp_path, 1)
    raising = submit(cluster, tmp_path, entries.RAISES)
    killed = submit(cluster, tmp_path, entries.KILLED_ALWAYS)
    finished, failed, lost = ends(cluster, 3)
    assert finished == ("t1", Outcome("finished"))
    assert check_seal(good) == []
    started = next(read_rows(good / "events.jsonl"))["detail"]
    assert (started["gpus"] or "", started["threads"]) == ("", "1")
    assert failed == ("t100", Outcome("failed", "ValueError: seed 100 cannot learn"))
    assert "Traceback" in worker_log(raising).read_text()
    assert (lost[0], lost[1].status) == ("t400", "lost")
    assert lost[1].cause.startswith("the worker died: ")
    assert "\n" not in lost[1].cause
    assert len(list(read_rows(killed / "metrics.jsonl"))) == 4
    assert cluster.poll(0.01) == []
    assert capfd.readouterr() == ("", "")


def test_a_cancelled_job_dies_and_frees_its_core(cluster: Cluster, tmp_path: Path) -> None:
    hanging = [submit(cluster, tmp_path, entries.HANGS + extra) for extra in (0, 1)]
    pids = [pid_of(folder) for folder in hanging]
    submit(cluster, tmp_path, 1)
    assert cluster.poll(1.0) == []
    cluster.cancel("t300")
    cluster.cancel("t301")
    cluster.cancel("unknown")
    assert ends(cluster, 1) == [("t1", Outcome("finished"))]
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_nothing_is_adopted_from_a_local_ray(cluster: Cluster) -> None:
    assert not cluster.adopt("t1")
