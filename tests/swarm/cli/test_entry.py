"""Ctrl-C is one line and 130 from the first import on."""

import signal
import subprocess
import sys

import pytest

BEGIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["{name}", "list"]

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Slow())
from {name}.cli.entry import main
main()
"""


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("swarm", "swarm.cli.app"),
        ("swarm", "typer"),
        ("autoresearch", "autoresearch.cli.app"),
        ("autoresearch", "autoresearch.cli.studies"),
    ],
)
def test_an_interrupt_while_something_is_imported(name: str, module: str) -> None:
    words = [sys.executable, "-c", BEGIN.format(name=name, module=module)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as a shell says it
    assert (code, done.stderr) == (128 + signal.SIGINT, "error: interrupted\n")
