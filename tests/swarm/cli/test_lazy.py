"""A group knows its commands by a table and imports one when it is called."""

import sys
from pathlib import Path
from typing import ClassVar

import pytest
import typer
from typer.testing import CliRunner

from swarm.cli.lazy import Entry, LazyGroup

MODULE = "lazily_loaded"
SOURCE = '''
import typer

app = typer.Typer(help="A group.")


def plain(word: str, loud: bool = False) -> None:
    """Say a word."""
    typer.echo(word.upper() if loud else word)


@app.command()
def inner() -> None:
    """Of a group."""
    raise typer.Exit(3)


@app.command()
def other() -> None:
    """Of the same group."""
'''


class Commands(LazyGroup):
    package = None
    entries: ClassVar = {
        "say": Entry(f"{MODULE}:plain", "Say a word."),
        "group": Entry(f"{MODULE}:app", "A group."),
    }


APP = typer.Typer(cls=Commands, callback=lambda: None, add_completion=False, rich_markup_mode=None)


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)


def test_help_is_written_without_the_module() -> None:
    said = CliRunner().invoke(APP, ["--help"])
    assert said.exit_code == 0
    assert "say    Say a word.\n  group  A group." in said.output
    assert MODULE not in sys.modules


@pytest.mark.parametrize("words", [["sya", "x"], ["--bogus"]])
def test_nor_is_it_needed_for_words_that_no_command_understands(words: list[str]) -> None:
    assert CliRunner().invoke(APP, words).exit_code == 2
    assert MODULE not in sys.modules


def test_a_command_has_its_own_options_and_help() -> None:
    assert CliRunner().invoke(APP, ["say", "word", "--loud"]).output == "WORD\n"
    said = CliRunner().invoke(APP, ["say", "--help"])
    assert " say [OPTIONS]" in said.output
    assert "--loud" in said.output


def test_a_group_of_commands_is_loaded_whole() -> None:
    assert CliRunner().invoke(APP, ["group", "inner"]).exit_code == 3
    assert "Of the same group." in CliRunner().invoke(APP, ["group", "--help"]).output
