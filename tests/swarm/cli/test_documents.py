"""Documents for machines are strict JSON, alone on stdout."""

import json
import subprocess
import sys

import pytest

from swarm.cli.documents import print_document

PRINTS_ALL_WAYS = """
import atexit, os, subprocess, sys, threading
from swarm.cli.documents import print_document, keep_stdout_for_documents
keep_stdout_for_documents()
os.write(1, b"from C\\n")
subprocess.run(["echo", "from a child"])
sys.__stdout__.write("from a library\\n")
thread = threading.Thread(target=print, args=("from a thread",))
thread.start()
thread.join()
atexit.register(print, "at exit")
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
    assert json.loads(done.stdout) == {"a": 1}
    told = ["after", "at exit", "from C", "from a child", "from a library", "from a thread"]
    assert sorted(done.stderr.splitlines()) == told
