"""What tests of both packages share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """The folder of the `tiny` model. Built once a machine; other workers wait for the builder."""
    from swarm.models import tiny

    return tiny.ensure()
