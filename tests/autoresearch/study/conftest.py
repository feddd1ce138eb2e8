"""A home, and a ledger that holds the study `s1`."""

from pathlib import Path

import pytest

from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def ledger(home: Home):
    ledger = Ledger.open(home)
    with ledger.hold("s1"):
        ledger.create_study("s1", "advantage std", {"seed": 3, "set": {"a": None}})
        yield ledger
    ledger.close()
