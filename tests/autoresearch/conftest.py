"""What tests of the researcher share."""

import json
from pathlib import Path

import pytest
from support.plans import OWN_ROWS


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The user's own rows as a file."""
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in OWN_ROWS))
    return path
