"""The README's Python runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
TRAINER, RESEARCHER = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_a_policy_is_trained_and_sampled(tmp_path: Path) -> None:
    status, answers = ran(TRAINER, tmp_path)[-2:]
    assert status.startswith("RunResult(status='finished', steps=20")
    assert len(re.findall(r"'\w*'", answers)) == 4


@pytest.mark.learns
def test_a_study_is_planned_run_and_read(tmp_path: Path) -> None:
    lines = ran(RESEARCHER, tmp_path)
    assert any(line.startswith("arm.eval/acc.advantage_std-none.mean ") for line in lines), lines
    assert len(list((tmp_path / "reports").glob("*/report.md"))) == 1


def ran(code: str, folder: Path) -> list[str]:
    """The lines that `code` prints when it is run in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=280
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
