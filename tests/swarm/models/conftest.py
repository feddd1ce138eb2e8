"""A package index that is a folder, and a cache of its own."""

from pathlib import Path

import pytest


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks for wheels; empty at first. The cache is empty, too."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("SWARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder
