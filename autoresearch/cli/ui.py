"""`autoresearch ui`: MLflow's own pages on the studies of this home."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import typer
from rich.console import Console

_PORT = 5050


def ui(
    port: int = typer.Option(_PORT, help="Port on the loopback interface; 0 takes a free one."),
) -> None:
    """Open MLflow's UI on the studies' metrics, until Ctrl-C."""
    from autoresearch.study.errors import BadInput
    from autoresearch.study.paths import Home

    home = Home.locate(os.environ, Path.cwd())
    if not (home.runs / "mlflow.sqlite").exists():
        raise BadInput("home", f"{home.root} holds no study yet", 'run autoresearch start "TOPIC"')
    port = _free(port)
    console = Console(highlight=False)
    console.print(f"MLflow on [b]http://127.0.0.1:{port}[/b]  (Ctrl-C ends it)")
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", home.mlflow_uri]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    try:
        code = subprocess.run(command, env=environment, check=False).returncode
    except KeyboardInterrupt:
        code = 0
    raise typer.Exit(code)


def _free(port: int) -> int:
    """`port` if it is free, or any free one for 0. Raises BadInput where it is taken."""
    from autoresearch.study.errors import BadInput

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BadInput(
                "port", f"{port} cannot be used ({error.strerror})", "use --port 0"
            ) from None
        chosen: int = probe.getsockname()[1]
        return chosen
