"""Attempts as Ray actors on this machine, and addresses at which no Ray answers."""

import os
import socket
import time
from pathlib import Path

import fault_entries as entries
import pytest
from child_path import child_path

from swarm.cluster.actor import worker_log
from swarm.cluster.cluster import Cluster, Ended
from swarm.cluster.errors import InfrastructureError, RayUnreachable
from swarm.config import TrainConfig
from swarm.runfolder import check_seal, read_rows


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", child_path())
        log = tmp_path_factory.mktemp("study")
        with Cluster.start(None, log, cpus=2, entry=entries.ENTRY) as cluster:
            yield cluster
        assert "Started a local Ray instance" in (log / "study.log").read_text()


def submit(cluster: Cluster, folder: Path, seed: int, steps: int = 4) -> Path:
    folder = folder / f"t{seed}" / "1"
    config = TrainConfig(seed=seed, steps=steps).model_dump(mode="json")
    cluster.submit(f"t{seed}", 1, config, folder, None)
    return folder


def ends(cluster: Cluster, count: int, seconds: float = 30) -> list[Ended]:
    ended: list[Ended] = []
    limit = time.monotonic() + seconds
    while len(ended) < count:
        assert time.monotonic() < limit, ended
        ended += cluster.poll(0.2)
    return sorted(ended, key=lambda end: end.trial)


def pid_of(folder: Path) -> int:
    while True:
        for event in read_rows(folder / "events.jsonl"):
            return event["detail"]["pid"]
        time.sleep(0.05)


def test_attempts_run_side_by_side_and_report_how_they_end(
    cluster: Cluster, tmp_path: Path, capfd
) -> None:
    assert cluster.capacity() == cluster.capacity("auto") == 2
    with pytest.raises(InfrastructureError, match="no GPU"):
        cluster.capacity("cuda")
    good = submit(cluster, tmp_path, 1)
    raising = submit(cluster, tmp_path, entries.RAISES)
    killed = submit(cluster, tmp_path, entries.KILLED_ALWAYS)
    finished, failed, lost = ends(cluster, 3)
    assert finished == Ended("t1", 1, "finished")
    assert check_seal(good) == []
    started = next(read_rows(good / "events.jsonl"))["detail"]
    assert (started["gpus"] or "", started["threads"]) == ("", "1")
    assert failed == Ended("t100", 1, "failed", "ValueError: seed 100 cannot learn")
    assert "Traceback" in worker_log(raising).read_text()
    assert (lost.trial, lost.status) == ("t400", "lost")
    assert lost.cause.startswith("the worker died: ")
    assert "\n" not in lost.cause
    assert len(list(read_rows(killed / "metrics.jsonl"))) == 4
    assert cluster.poll(0.01) == []
    assert capfd.readouterr() == ("", "")


def test_a_cancelled_attempt_dies_and_frees_its_core(cluster: Cluster, tmp_path: Path) -> None:
    hanging = [submit(cluster, tmp_path, entries.HANGS + extra) for extra in (0, 1)]
    pids = [pid_of(folder) for folder in hanging]
    submit(cluster, tmp_path, 1)
    assert cluster.poll(1.0) == []
    cluster.cancel("t300", 1)
    cluster.cancel("t301", 1)
    cluster.cancel("unknown", 1)
    assert ends(cluster, 1) == [Ended("t1", 1, "finished")]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_nothing_is_adopted_from_a_local_ray(cluster: Cluster) -> None:
    assert not cluster.adopt("t1", 1)


@pytest.mark.parametrize("address", ["nonsense", "ray://host:10001", "host:port", ""])
def test_an_address_that_is_none_is_named(address: str, tmp_path: Path) -> None:
    with pytest.raises(RayUnreachable, match=r"is neither `auto` nor `host:port`; start one"):
        Cluster.start(address, tmp_path / "study", None)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_port_is_unreachable_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(RayUnreachable, match=r"nothing answers at 127\.0\.0\.1:\d+ \(.*refused\)"):
        Cluster.start(f"127.0.0.1:{port}", tmp_path / "study", None)
    assert time.monotonic() - started < 5
    assert list(tmp_path.iterdir()) == []


def test_auto_names_the_address_that_the_environment_gives(tmp_path: Path, monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(RayUnreachable, match=f"auto: nothing answers at {address}"):
        Cluster.start("auto", tmp_path / "study", None)


@pytest.mark.faults
def test_a_port_that_never_answers_is_unreachable_within_20_seconds(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        started = time.monotonic()
        with pytest.raises(RayUnreachable, match="no Ray cluster answered in 15 s"):
            Cluster.start(f"127.0.0.1:{server.getsockname()[1]}", tmp_path / "study", None)
        assert time.monotonic() - started < 20
    assert os.environ.get("RAY_ADDRESS") is None
