"""`autoresearch ui`: MLflow's own pages on the studies of this home."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from autoresearch.analysis.scores import metrics_of
from autoresearch.execute.mlflow_study import experiment
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import InfrastructureError, Refusal
from swarm.sinks.mlflow_page import runs_page

_PORT = 5050
_POLL_SECONDS = 0.2


def ui(
    port: int = typer.Option(
        _PORT, min=0, max=65535, help="Port on the loopback interface; 0 takes a free one."
    ),
) -> None:
    """Start MLflow's UI and print the page of the newest study's runs; Ctrl-C ends it."""
    home = Home.locate(os.environ, Path.cwd())
    if not (home.runs / "mlflow.sqlite").exists():
        raise Refusal("home", f"{home.root} holds no study yet", 'run autoresearch start "TOPIC"')
    port = _free(port)
    console = Console(highlight=False)
    log = home.runs / "ui.log"
    with _server(home, port, log) as server:
        try:
            page = _page(home, f"http://127.0.0.1:{port}")
            _wait_until_up(server, port, log)
            console.print(f"MLflow on [b]{page}[/b]  (Ctrl-C ends it)", soft_wrap=True)
            code = server.wait()
        except KeyboardInterrupt:
            code = 0
    raise typer.Exit(code)


def _page(home: Home, server: str) -> str:
    """The URL of the runs of the newest study that has any; MLflow's first page if none has."""
    ledger = Ledger.open(home)
    try:
        begun = (ledger.facts(known.study) for known in reversed(ledger.studies()))
        newest = next((facts for facts in begun if any(t.attempts for t in facts.trials)), None)
    finally:
        ledger.close()
    if newest is None:
        return server
    log, metrics = home.log(newest.study), metrics_of(newest.plan) if newest.plan else ()
    with experiment(home.mlflow_uri, newest.study, log, metrics) as found:
        return runs_page(server, found.id)


@contextmanager
def _server(home: Home, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """MLflow's server, ended with the block; SIGTERM leaves the block like Ctrl-C does."""
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", home.mlflow_uri]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with log.open("ab") as file:
        server = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        yield server
    finally:
        server.terminate()
        server.wait()


def _wait_until_up(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return once something listens. Raises InfrastructureError where the server has ended."""
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(_POLL_SECONDS)
    raise InfrastructureError(f"MLflow's server did not start; see {log}")


def _free(port: int) -> int:
    """`port` if it is free, or any free one for 0. Raises Refusal where it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Refusal(
                "port", f"{port} cannot be used ({error.strerror})", "use --port 0"
            ) from None
        chosen: int = probe.getsockname()[1]
        return chosen
