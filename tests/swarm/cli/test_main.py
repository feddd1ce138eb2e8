"""How a command ends when the disk does not take what it writes."""

import os
import sqlite3
import sys

import pytest
import typer

from swarm.cli import main


def write_until_full() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("pragma max_page_count = 2")
    database.execute("create table rows (text)")
    for _ in range(100):
        database.execute("insert into rows values (?)", ("x" * 4000,))


def kill_what_may_not_be() -> None:
    raise PermissionError(1, os.strerror(1))


def ended(command: object, monkeypatch: pytest.MonkeyPatch) -> object:
    app = typer.Typer(name="app")
    app.command()(command)
    monkeypatch.setattr(sys, "argv", ["app"])
    with pytest.raises(SystemExit) as end:
        main.run(app, lambda error: None)
    return end.value.code


def test_a_full_database_is_one_line(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ended(write_until_full, monkeypatch) == main.FAILED
    says = capfd.readouterr().err
    assert says.startswith("error: database: database or disk is full; make room")
    assert says.count("\n") == 1


def test_an_error_of_something_else_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PermissionError):
        ended(kill_what_may_not_be, monkeypatch)


def test_a_group_without_a_command_shows_its_help(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = typer.Typer(name="app", no_args_is_help=True, rich_markup_mode=None)
    app.command("one")(lambda: None)
    app.command("two")(lambda: None)
    monkeypatch.setattr(sys, "argv", ["app"])
    with pytest.raises(SystemExit) as end:
        main.run(app, lambda error: None)
    said = capfd.readouterr()
    assert end.value.code == main.BAD_INPUT
    assert said.err == ""
    assert said.out.startswith("Usage: app")
    assert "two" in said.out
