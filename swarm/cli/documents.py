"""What a machine reads: one strict JSON document on stdout, whatever else is printed there."""

import json
import os
import sys
from contextvars import ContextVar
from typing import Any, TextIO

from swarm.disk.strict_json import strict

#: The real stdout, once documents alone may reach it.
_ALONE: ContextVar[TextIO | None] = ContextVar("_ALONE", default=None)


def print_document(document: Any) -> None:
    """Print a document. What could not be measured is null: JSON has no NaN."""
    stream = _ALONE.get() or sys.stdout
    stream.write(json.dumps(strict(document), indent=2, allow_nan=False) + "\n")
    stream.flush()


def keep_stdout_for_documents() -> None:
    """From here to the end of the process `print_document` alone reaches stdout: what other code
    prints, in any thread, child process, C library or at exit, goes to stderr."""
    plain = sys.__stdout__
    if plain is None or sys.stdout is not plain:  # someone holds it already
        return
    plain.flush()
    real = os.fdopen(os.dup(1), "w", encoding=plain.encoding, errors=plain.errors, buffering=1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    _ALONE.set(real)
