"""How a command line ends: each error is one line and an exit code, and with `--json` one document
too. What nobody foresaw is a bug report: its line names the file with the traceback."""

import errno
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer._click.exceptions import NoArgsIsHelpError
from typer.exceptions import TyperException

from swarm.cli.documents import keep_stdout_for_documents, print_document
from swarm.cli.leaving import INTERRUPTED, interrupts_end_it, leave
from swarm.cli.stopping import Signalled, ended_by_signals
from swarm.disk.faults import Parts, of_defect, of_installation, of_machine, one_line
from swarm.errors import FetchFailed, InfrastructureError, Refusal, RewardFailed, said

FAILED, BAD_INPUT = 1, 2

#: The widest terminal that is believed, in characters.
WIDEST = 10_000

#: Characters of a path that an error line shows.
LONGEST = 80


#: Paths that cannot be those of files: the user's to correct.
NO_FILE = {errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR}


def run(app: typer.Typer, own: Callable[[Exception], int | None] = lambda error: None) -> NoReturn:
    """Run `app` on the words of the command line and exit.

    A refusal ends with 2, a fault of the machines or of the user's reward with 1, and so does a
    defect, whose traceback goes to a file. `own` gives the code of an error that this app alone
    has, None for any other.

    An error's line goes to stderr; with `--json` stdout gets
    `{"error": {"field", "problem", "next_step"}, "exit"}`, in which what an error does not name is
    null.
    """
    known = set(threading.enumerate())
    _open_what_is_closed()
    _drop_no_sizes()
    try:
        Path.cwd()
    except FileNotFoundError:
        gone = {"field": "folder", "problem": "the working folder is gone"}
        _end({**gone, "next_step": "change to one that is there"}, BAD_INPUT)
    if wants_json(sys.argv[1:]):
        keep_stdout_for_documents()
    try:
        with ended_by_signals(), interrupts_end_it():
            code = _ended(app, own)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILED * bool(end.code)
    leave(code, known)


def interrupted() -> NoReturn:
    """End a command that Ctrl-C ended."""
    gone = {"field": None, "problem": "interrupted", "next_step": None}
    _end(gone, INTERRUPTED, "interrupted")


def _ended(app: typer.Typer, own: Callable[[Exception], int | None]) -> int:
    """Run `app`; the exit code of what went well. Exits after anything else."""
    try:
        code = app(standalone_mode=False, prog_name=app.info.name)
    except typer.Abort:
        sys.stderr.write("error: aborted\n")
        sys.exit(1)
    except Signalled as signalled:
        gone = {"field": None, "problem": f"ended by {signalled.name}", "next_step": None}
        _end(gone, 128 + signalled.number, f"ended by {signalled.name}")
    except TyperException as error:
        if isinstance(error, NoArgsIsHelpError):  # a group without a command: its help
            sys.stdout.write(f"{error.format_message()}\n")
            sys.exit(BAD_INPUT)
        _end(_usage(error), BAD_INPUT)
    except Exception as error:
        known = own(error) or _exit_code(error)
        if known is not None:
            _end(_parts(error), known, said(error))
        if isinstance(error, OSError) and error.errno in NO_FILE:
            _end(_path(error), BAD_INPUT)
        if isinstance(error, BrokenPipeError):  # who read stdout has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.exit(FAILED)
        known_to_fail = of_machine(error) or of_installation(error)
        _end(known_to_fail or of_defect(error, app.info.name or ""), FAILED)
    if code == INTERRUPTED:  # Typer's own, of Ctrl-C where no command takes care of it
        interrupted()
    return code if isinstance(code, int) else 0


def _open_what_is_closed() -> None:
    """A command may be started without some of its three streams (`2>&-`). A file that it opened
    would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free one
    nowhere = {"stdout": sys.stdout, "stderr": sys.stderr}
    for name in (name for name, stream in nowhere.items() if stream is None):
        setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115


def _drop_no_sizes() -> None:
    """A terminal of no columns, or of words, has no size: some editors and containers say so, and
    what is shown would be fitted to it."""
    for name in ("COLUMNS", "LINES"):
        said = os.environ.get(name, "")
        if not (said.isascii() and said.isdigit() and 0 < int(said) <= WIDEST):
            os.environ.pop(name, None)


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the options of a command line."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


def _exit_code(error: Exception) -> int | None:
    """The exit code of an error with a message for the user; None for any other."""
    if isinstance(error, Refusal):
        return BAD_INPUT
    faults = (InfrastructureError, RewardFailed, FetchFailed)
    return FAILED if isinstance(error, faults) else None


def _end(parts: Parts, code: int, text: str = "") -> NoReturn:
    line = text or one_line(parts)
    sys.stderr.write(f"error: {' '.join(line.splitlines())}\n")  # a path may hold line breaks
    if wants_json(sys.argv[1:]):
        with suppress(OSError, ValueError):  # who reads stdout is gone, or it is full
            print_document({"error": parts, "exit": code})
    sys.exit(code)


def _parts(error: Exception) -> Parts:
    """Which field, what is wrong with it, what to do next, as far as the error says."""
    names = ("field", "problem", "next_step")
    if all(hasattr(error, name) for name in names):
        return {name: getattr(error, name) or None for name in names}
    return {"field": None, "problem": said(error), "next_step": None}


def _path(error: OSError) -> Parts:
    """What a path says that cannot be a file's."""
    named = str(error.filename)
    shown = named if len(named) <= LONGEST else f"{named[:LONGEST]}…"
    return {"field": shown, "problem": os.strerror(error.errno or 0), "next_step": "give a file"}


def _usage(error: Any) -> Parts:
    """The same of words that no command understands."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    option = getattr(error, "option_name", None) or (parameter and parameter.name)
    command = context.command_path if context is not None else "the command"
    return {
        "field": option or "command",
        "problem": " ".join(error.format_message().split()).rstrip("."),
        "next_step": f"see: {command} --help",
    }
