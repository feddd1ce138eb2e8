"""`swarm --help`: written from a table, without importing a command."""

import subprocess
import sys

import pytest
from typer.main import get_group

from swarm.cli import app


@pytest.mark.parametrize("name", app.Commands.entries)
def test_the_line_of_help_is_the_first_of_the_command(name: str) -> None:
    command = get_group(app.app).load(name)
    assert command.help.splitlines()[0] == app.Commands.entries[name].summary


def test_help_needs_no_torch() -> None:
    program = (
        "import sys\nsys.argv = ['swarm', '--help']\nfrom swarm.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'torch', 'transformers', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.splitlines()[-1] == "[]"
