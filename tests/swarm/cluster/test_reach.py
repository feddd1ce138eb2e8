"""Addresses at which no Ray answers."""

import os
import socket
import time
from pathlib import Path

import pytest

from swarm.cluster.cluster import Cluster
from swarm.errors import RayUnreachable


@pytest.mark.parametrize("address", ["nonsense", "ray://host:10001", "host:port", ""])
def test_an_address_that_is_none_is_named(address: str, tmp_path: Path) -> None:
    with pytest.raises(RayUnreachable, match=r"is neither `auto` nor `host:port`; start one"):
        Cluster.start(address, "jobs", tmp_path / "ray.log", None)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_port_is_unreachable_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(RayUnreachable, match=r"nothing answers at 127\.0\.0\.1:\d+ \(.*refused\)"):
        Cluster.start(f"127.0.0.1:{port}", "jobs", tmp_path / "ray.log", None)
    assert time.monotonic() - started < 5
    assert list(tmp_path.iterdir()) == []


def test_auto_names_the_address_that_the_environment_gives(tmp_path: Path, monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(RayUnreachable, match=f"auto: nothing answers at {address}"):
        Cluster.start("auto", "jobs", tmp_path / "ray.log", None)


@pytest.mark.faults
def test_a_port_that_never_answers_is_unreachable_within_20_seconds(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        started = time.monotonic()
        with pytest.raises(RayUnreachable, match="no Ray cluster answered in 15 s"):
            Cluster.start(
                f"127.0.0.1:{server.getsockname()[1]}", "jobs", tmp_path / "ray.log", None
            )
        assert time.monotonic() - started < 20
    assert os.environ.get("RAY_ADDRESS") is None
