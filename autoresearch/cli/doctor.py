"""`autoresearch doctor`: does this machine have what a study needs?"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console
from rich.text import Text

from autoresearch.cli.terminal import noise_to
from autoresearch.study.home import Home
from swarm import models
from swarm.cli.documents import print_document
from swarm.cluster.cluster import Cluster

#: A `full` study of two arms keeps about 1 GB of run folders.
_FREE_BYTES = 5 * 2**30
_GIB = 2**30


@dataclass(frozen=True)
class Check:
    """One line of the doctor: what was tried, how it went, and what to do about it."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    next_step: str = ""


def doctor(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Check Python, torch, Ray, MLflow, the ledger, disk and models. Exit code 1 if one fails."""
    home = Home.locate(os.environ, Path.cwd())
    with tempfile.TemporaryDirectory(prefix="autoresearch-doctor-") as folder:
        log = Path(folder) / "noise.log"
        with noise_to(log) as real:
            console = Console(file=real, highlight=False)
            checks = []
            for check in _checks(home, Path(folder)):
                checks.append(check)
                if not as_json:
                    _print(console, check)
    if as_json:
        print_document({"checks": [asdict(check) for check in checks]})
    raise typer.Exit(1 if any(check.status == "fail" for check in checks) else 0)


def _checks(home: Home, scratch: Path) -> Iterator[Check]:
    yield _python()
    yield _tried("home", lambda: _home(home), "set AUTORESEARCH_HOME to a folder you may write")
    yield _tried("disk", lambda: _disk(home), "set AUTORESEARCH_HOME to a folder that exists")
    yield _tried("torch", _torch, "install the pinned torch: make install")
    yield _tried("model", _model, "install the package anew")
    yield _tried("ray", lambda: _ray(scratch), "see the message; `ray stop` ends stale clusters")
    yield _tried("mlflow", lambda: _mlflow(scratch), "install the pinned mlflow: make install")


def _tried(name: str, check: Callable[[], Check], next_step: str) -> Check:
    """The check, or its failure as a line: the doctor itself never fails."""
    try:
        return check()
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return Check(name, "fail", text, next_step)


def _python() -> Check:
    fits = sys.version_info >= (3, 11)
    return Check(
        "python",
        "ok" if fits else "fail",
        platform.python_version(),
        "" if fits else "use Python 3.11 or newer",
    )


def _home(home: Home) -> Check:
    home.check_writable()
    return Check("home", "ok", str(home.root))


def _disk(home: Home) -> Check:
    free = shutil.disk_usage(home.root if home.root.exists() else home.root.parent).free
    enough = free >= _FREE_BYTES
    return Check(
        "disk",
        "ok" if enough else "warn",
        f"{free / _GIB:.0f} GiB free",
        "" if enough else "a full study may need a few GiB",
    )


def _torch() -> Check:
    import torch  # a torch that cannot be imported is a finding of its own

    where = "CUDA" if torch.cuda.is_available() else "no CUDA, trains on the CPU"
    return Check("torch", "ok", f"{torch.__version__}, {torch.get_num_threads()} threads, {where}")


def _model() -> Check:
    return Check("model", "ok", f"tiny is here, {models.ensure('tiny')}")


def _ray(scratch: Path) -> Check:
    with Cluster.start(None, scratch.name, scratch / "ray.log", None) as cluster:
        return Check("ray", "ok", f"starts here, {cluster.capacity()} trials side by side")


def _mlflow(scratch: Path) -> Check:
    import mlflow  # likewise

    client = mlflow.MlflowClient(f"sqlite:///{scratch / 'mlflow.sqlite'}")
    client.search_experiments()
    return Check("mlflow", "ok", f"{mlflow.__version__}, its SQLite store works")


def _print(console: Console, check: Check) -> None:
    sign, style = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}[
        check.status
    ]
    line = Text.assemble((f"{sign} ", style), f"{check.name:<8}", check.detail)
    if check.next_step:
        line.append(f"  → {check.next_step}", style="dim")
    console.print(line, soft_wrap=True)
