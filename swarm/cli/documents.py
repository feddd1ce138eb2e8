"""What a machine reads: one strict JSON document on stdout, whatever else is printed there."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from swarm.disk.strict_json import strict


def print_document(document: Any) -> None:
    """Print a document. What could not be measured is null: JSON has no NaN."""
    sys.stdout.write(json.dumps(strict(document), indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextmanager
def stdout_for_documents() -> Iterator[None]:
    """Within the block, descriptor 1 is stderr, and `sys.stdout` alone reaches the real stdout:
    what C libraries and child processes print does not get between the lines of a document."""
    plain = sys.__stdout__
    if plain is None or sys.stdout is not plain:  # someone holds it already
        yield
        return
    plain.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(
        os.dup(saved), "w", encoding=plain.encoding, errors=plain.errors, buffering=1
    ) as real:
        sys.stdout = real
        try:
            yield
        finally:
            sys.stdout = plain
            plain.flush()
            os.dup2(saved, 1)
            os.close(saved)
