"""Reading what the ledger holds."""

import subprocess
import sys

import pytest

from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import Refusal


def test_reading_a_home_without_a_ledger_creates_nothing(home: Home) -> None:
    ledger = Ledger.open(home)
    assert ledger.studies() == []
    assert ledger.findings("std") == []
    with pytest.raises(Refusal, match="no study 's1'"):
        ledger.facts("s1")
    assert list(home.root.iterdir()) == []


def test_an_unknown_study_names_the_nearest(ledger: Ledger) -> None:
    with pytest.raises(Refusal, match="did you mean s1"):
        ledger.facts("s11")


def test_reading_needs_no_sqlite_utils(home: Home, ledger: Ledger) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from autoresearch.study.ledger import Ledger; from autoresearch.study.home import Home;"
        f"assert Ledger.open(Home(Path({str(home.root)!r}))).facts('s1').topic;"
        "assert not {'sqlite_utils', 'pandas', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
