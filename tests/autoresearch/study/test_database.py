"""Files that are not a ledger of this version."""

import sqlite3

import pytest

from autoresearch.study import database
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import Refusal


def test_a_newer_ledger_is_refused(home: Home) -> None:
    database.create(home.ledger_file)
    with sqlite3.connect(home.ledger_file) as db:
        db.execute(f"PRAGMA user_version = {database.VERSION + 1}")
    with pytest.raises(Refusal, match=f"schema {database.VERSION + 1}.*upgrade"):
        Ledger.open(home)


def test_a_file_that_is_no_ledger_is_refused(home: Home) -> None:
    home.runs.mkdir()
    home.ledger_file.write_text("not a database, but long enough to have a header " * 10)
    with pytest.raises(Refusal, match="not an SQLite file"):
        Ledger.open(home)


@pytest.mark.parametrize("version", [0, database.VERSION])
def test_the_database_of_another_program_is_refused(home: Home, version: int) -> None:
    """And stays as it is."""
    home.runs.mkdir()
    with sqlite3.connect(home.ledger_file) as db:
        db.execute("CREATE TABLE songs (title)")
        db.execute(f"PRAGMA user_version = {version}")
    before = home.ledger_file.read_bytes()
    with pytest.raises(Refusal, match="is the database of another program; set AUTORESEARCH_HOME"):
        Ledger.open(home)
    if version == 0:
        with pytest.raises(Refusal, match="another program"):
            database.create(home.ledger_file)
    assert home.ledger_file.read_bytes() == before
