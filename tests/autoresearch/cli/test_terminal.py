"""Noise goes to the log, whoever makes it."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, sys
from pathlib import Path
from autoresearch.cli.terminal import noise_to
print("before")
with noise_to(Path(sys.argv[1]) / "deep" / "study.log") as real:
    print("python noise")
    print("python error noise", file=sys.stderr)
    os.write(1, b"library noise\\n")
    os.system("echo child noise; echo child error noise >&2")
    print("for the user", file=real)
print("after")
print("after error", file=sys.stderr)
"""


def test_only_the_view_reaches_stdout(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "before\nfor the user\nafter\n"
    assert done.stderr == "after error\n"
    log = (tmp_path / "deep" / "study.log").read_text().splitlines()
    assert sorted(log) == sorted(
        [
            "python noise",
            "python error noise",
            "library noise",
            "child noise",
            "child error noise",
        ]
    )


def test_the_real_stdout_is_not_inherited(tmp_path: Path):
    script = SCRIPT.replace(
        "os.system(", "print(os.get_inheritable(real.fileno()), file=real); os.system("
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "False" in done.stdout
    assert os.get_inheritable(1)
