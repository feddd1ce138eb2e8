"""A small config as a file."""

from pathlib import Path

import pytest

SMALL = """
steps: 3
task: {ref: reverse, args: {min: 3, max: 5}}
batch: {rollouts: 16, group_size: 4}
evaluation: {every: 3, prompts: 16}
checkpoint_every: 1
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small config in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
