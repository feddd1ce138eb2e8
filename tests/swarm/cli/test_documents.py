"""Documents for machines are strict JSON, alone on stdout."""

import json
import subprocess
import sys

import pytest

from swarm.cli.documents import print_document

PRINTS_ALL_WAYS = """
import os, subprocess, sys
from swarm.cli.documents import print_document, stdout_for_documents
with stdout_for_documents():
    os.write(1, b"from C\\n")
    subprocess.run(["echo", "from a child"])
    sys.__stdout__.write("from a library\\n")
    print_document({"a": 1})
print("after")
"""


def test_what_cannot_be_measured_is_null(capsys: pytest.CaptureFixture) -> None:
    print_document({"a": float("nan"), "b": [float("inf"), 1.5], "c": ({"d": -float("inf")},)})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": [{"d": None}]}


def test_nothing_else_reaches_stdout() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTS_ALL_WAYS], capture_output=True, text=True, check=True
    )
    document, after = done.stdout.rsplit("\n", 2)[:2]
    assert json.loads(document) == {"a": 1}
    assert after == "after"
    assert sorted(done.stderr.splitlines()) == ["from C", "from a child", "from a library"]
