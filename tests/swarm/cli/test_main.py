"""How a command ends when the disk does not take what it writes."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer
from rich.console import Console

from swarm.cli import main
from swarm.errors import (
    ClusterLost,
    FetchFailed,
    RayUnreachable,
    Refusal,
    RewardFailed,
    RewardOverdue,
)


def write_until_full() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("pragma max_page_count = 2")
    database.execute("create table rows (text)")
    for _ in range(100):
        database.execute("insert into rows values (?)", ("x" * 4000,))


def kill_what_may_not_be() -> None:
    raise PermissionError(1, os.strerror(1))


def ended(command: object, monkeypatch: pytest.MonkeyPatch, **known: object) -> object:
    app = typer.Typer(name="app")
    app.command()(command)
    monkeypatch.setattr(sys, "argv", ["app"])
    with pytest.raises(SystemExit) as end:
        main.run(app, **known)
    return end.value.code


ENDS = [
    (Refusal("seed", "one is not a number", "give 0"), main.BAD_INPUT),
    (RayUnreachable("auto", "nothing answers"), main.BAD_INPUT),
    (ClusterLost("Ray has died"), main.FAILED),
    (RewardFailed("praise in mine.py", "returned 'x'", 7), main.FAILED),
    (RewardOverdue("praise in mine.py", 2.0, 7), main.FAILED),
    (FetchFailed("pip could not download it"), main.FAILED),
]


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda value: type(value).__name__)
def test_an_error_of_the_family_is_one_line_and_its_exit_code(
    error: Exception, code: int, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command() -> None:
        raise error

    assert ended(command, monkeypatch) == code
    assert capfd.readouterr().err == f"error: {error}\n"


def test_a_line_break_in_a_name_is_not_one_on_the_screen(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command() -> None:
        raise Refusal("config", "a\nb.yaml is not there", "give a file")

    assert ended(command, monkeypatch) == main.BAD_INPUT
    assert capfd.readouterr().err == "error: config: a b.yaml is not there; give a file\n"


def test_an_app_adds_the_code_of_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def command() -> None:
        raise KeyError("mine")

    assert ended(command, monkeypatch) == main.FAILED
    assert ended(command, monkeypatch, own=lambda error: 5) == 5


def test_a_full_database_is_one_line(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ended(write_until_full, monkeypatch) == main.FAILED
    says = capfd.readouterr().err
    assert says.startswith("error: database: database or disk is full; make room")
    assert says.count("\n") == 1


def test_an_error_of_something_else_is_a_bug_report(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ended(kill_what_may_not_be, monkeypatch) == main.FAILED
    (log,) = tmp_path.iterdir()
    assert "kill_what_may_not_be" in log.read_text()
    says = capfd.readouterr().err
    assert says.startswith("error: bug: PermissionError: ")
    assert says.endswith(f"{log}\n")
    assert says.count("\n") == 1


def test_a_group_without_a_command_shows_its_help(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = typer.Typer(name="app", no_args_is_help=True, rich_markup_mode=None)
    app.command("one")(lambda: None)
    app.command("two")(lambda: None)
    monkeypatch.setattr(sys, "argv", ["app"])
    with pytest.raises(SystemExit) as end:
        main.run(app)
    said = capfd.readouterr()
    assert end.value.code == main.BAD_INPUT
    assert said.err == ""
    assert said.out.startswith("Usage: app")
    assert "two" in said.out


COMMAND = """
import sys, time, typer
from swarm.cli import main
app = typer.Typer(name="app")
@app.command()
def command(wait: float = 0.0, json: bool = typer.Option(False, "--json")) -> None:
    print("here", flush=True)
    time.sleep(wait)
main.run(app)
"""


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
        (signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_signal_ends_a_command_with_a_line_and_a_document(
    number: int, code: int, said: str
) -> None:
    script = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{COMMAND}"
    words = [sys.executable, "-c", script, "--wait", "60", "--json"]
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "here\n"  # stdout is for documents
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, f"error: {said}\n")
    assert json.loads(out)["exit"] == code


@pytest.mark.parametrize("closed", ["1", "2", "0 1 2"])
def test_a_stream_that_is_closed_is_no_defect(closed: str) -> None:
    shut = " ".join(f"{number}>&-" for number in closed.split())
    words = ["bash", "-c", f'"$@" {shut}', "bash", sys.executable, "-c", COMMAND]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    words = ["bash", "-c", 'rmdir "$PWD" && "$@"', "bash", sys.executable, "-c", COMMAND, "--json"]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == main.BAD_INPUT
    assert done.stderr.count("\n") == 1
    assert "the working folder is gone" in done.stderr
    assert json.loads(done.stdout)["error"]["field"] == "folder"


@pytest.mark.parametrize("size", ["0", "-3", "wide", "²", "9" * 20])
def test_a_terminal_of_no_size_is_one_that_does_not_say_it(
    size: str, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rich would fit every line to no columns, or stumble over a digit that is no number."""
    monkeypatch.setenv("COLUMNS", size)
    monkeypatch.setenv("LINES", "30")

    def command() -> None:
        Console().print("shown")

    assert ended(command, monkeypatch) == 0
    assert capfd.readouterr().out == "shown\n"
    assert "COLUMNS" not in os.environ
    assert os.environ["LINES"] == "30"
