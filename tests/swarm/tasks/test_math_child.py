"""The child as a process: lines in, lines out, within its bounds."""

import json
import subprocess
import sys

from swarm.tasks import math_child


def run(
    *lines: tuple[str, str], seconds: int = 20, memory: int = 4 * 2**30
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", math_child.__file__, str(seconds), str(memory)],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def asked(*lines: tuple[str, str], seconds: int = 20) -> list[str]:
    return run(*lines, seconds=seconds).stdout.splitlines()


def test_a_line_for_each_comparison() -> None:
    lines = [("1/2", "so $0.5$"), ("\\sqrt{8}", "\\boxed{2\\sqrt{2}}"), ("3", "four"), ("", "")]
    assert asked(*lines) == ["ready", "true", "true", "false", "false"]


def test_what_takes_too_long_ends_it_without_an_answer() -> None:
    assert asked(("3", "$3$"), ("3", "$9^{9^{9^{9}}}$"), seconds=2) == ["ready", "true"]


def test_what_takes_too_much_memory_ends_it_in_silence() -> None:
    done = run(("3", "$3$"), ("3", "$7^{10^{9}}$"), memory=2**30)
    assert done.stdout.splitlines() == ["ready", "true"]
    assert done.returncode
    assert not done.stderr
