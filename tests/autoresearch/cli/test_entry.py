"""The installed commands begin where Ctrl-C is taken care of."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_installed_commands_and_the_checkout_begin_there() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {
        "autoresearch": "autoresearch.cli.entry:main",
        "swarm": "swarm.cli.entry:main",
    }
    assert "from autoresearch.cli.entry import main" in (ROOT / "cli.py").read_text()
