"""`autoresearch ui`: ports, and a server that does not come up."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from support.commands import Run
from support.synthetic_study import STUDY, enter_in_ledger, make_study

from autoresearch.cli.ui import _free, _page, _wait_until_up
from autoresearch.study.home import Home
from swarm.errors import InfrastructureError, Refusal


def test_a_home_without_a_study_says_how_to_begin(run: Run) -> None:
    said = run("ui")
    assert said.code == 2
    assert "holds no study yet; run autoresearch start" in said.err


def test_a_port_that_is_taken_is_refused(run: Run, home: Home) -> None:
    home.runs.mkdir(parents=True)
    (home.runs / "mlflow.sqlite").write_bytes(b"")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(Refusal, match=rf"port: {port} cannot be used .*use --port 0"):
            _free(port)
        assert run("ui", "--port", str(port)).code == 2


@pytest.mark.parametrize("port", ["70000", "-1", "http"])
def test_a_port_that_there_is_not(run: Run, port: str) -> None:
    said = run("ui", f"--port={port}")
    assert said.code == 2
    assert said.err.startswith("error: port: Invalid value for '--port'")


def test_a_free_port_is_taken_as_it_is_and_0_finds_one() -> None:
    found = _free(0)
    assert found > 0
    assert _free(found) == found


def test_a_server_is_waited_for_until_it_listens_or_ends(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    with pytest.raises(InfrastructureError, match=r"did not start; see .*ui\.log"):
        _wait_until_up(ended, 1, tmp_path / "ui.log")
    with socket.create_server(("127.0.0.1", 0)) as server:
        alive = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        try:
            _wait_until_up(alive, server.getsockname()[1], tmp_path / "ui.log")
        finally:
            alive.kill()
            alive.communicate()


def test_the_page_is_of_the_newest_study_that_has_begun(home: Home, study: str) -> None:
    assert _page(home, "http://127.0.0.1:1") == "http://127.0.0.1:1"  # `study` has no attempt
    enter_in_ledger(make_study(home), home)
    page = _page(home, "http://127.0.0.1:1")
    experiment = MlflowClient(home.mlflow_uri).get_experiment_by_name(STUDY)
    assert experiment is not None
    assert f"/#/experiments/{experiment.experiment_id}/runs?" in page
    assert "eval/acc" in experiment.tags["mlflow.sharedViewState.training"]
