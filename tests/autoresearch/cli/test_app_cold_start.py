"""Commands that answer without their heavy libraries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from autoresearch.cli import app

HEAVY = {
    "torch",
    "ray",
    "mlflow",
    "langgraph",
    "scipy",
    "statsmodels",
    "sqlite_utils",
    "optuna",
    "matplotlib",
    "pandas",
    "transformers",
}
#: CPU seconds.
HELP_SECONDS = 0.3


def imported_by(*arguments: str, home: Path) -> tuple[set[str], float]:
    """Top-level modules that a command imports, and its CPU seconds."""
    code = (
        "import sys, resource\n"
        f"sys.argv = ['autoresearch', *{list(arguments)}]\n"
        "from autoresearch.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code in (0, None), end.code\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print('\\n@', used.ru_utime + used.ru_stime, *{m.split('.')[0] for m in sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "AUTORESEARCH_HOME": str(home)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, *modules = done.stdout.rsplit("@", 1)[1].split()
    return set(modules), float(seconds)


@pytest.mark.parametrize("command", ["--help", "start --help", "list", "model list"])
def test_light_commands_import_nothing_heavy(command: str, tmp_path: Path):
    modules, _ = imported_by(*command.split(), home=tmp_path)
    assert not modules & HEAVY


def test_help_imports_no_command(tmp_path: Path):
    modules, _ = imported_by("--help", home=tmp_path)
    assert not modules & {"pydantic", "rich", "numpy"}


@pytest.mark.parametrize("name", app.Commands.entries)
def test_the_line_of_help_is_the_first_of_the_command(name: str):
    command = get_group(app.app).load(name)
    assert command.help.splitlines()[0] == app.Commands.entries[name].summary


def test_help_is_fast(tmp_path: Path):
    imported_by("--help", home=tmp_path)
    assert min(imported_by("--help", home=tmp_path)[1] for _ in range(5)) <= HELP_SECONDS
