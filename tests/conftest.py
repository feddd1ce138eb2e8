"""What tests of both packages share."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples everywhere, and no verdict on how busy the machine is.
settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """The folder of the `tiny` model."""
    from swarm.models import tiny

    return tiny.folder()
