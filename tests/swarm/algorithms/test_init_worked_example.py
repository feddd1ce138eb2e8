"""The algorithm that `docs/algorithms.md` adds, added as it says, in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import swarm

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "algorithms.md").read_text()

#: What a user would do next.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import swarm
from swarm.config.train import TrainConfig
from swarm.learn.advantages import episode_advantages
from swarm.train.loop import train

config = TrainConfig().with_values({
    "algorithm.name": "lite_ppo", "steps": 2, "batch.rollouts": 16, "batch.group_size": 4,
    "evaluation.prompts": 16,
})
rewards = [[1.0, 0.0], [0.5, 0.5]]
expected = np.array([[0.5, -0.5], [0, 0]]) / (np.std([1, 0, 0.5, 0.5], ddof=1) + 1e-4)
assert np.allclose(episode_advantages(rewards, config.algorithm), expected)
assert train(config, Path(sys.argv[1])).status == "finished"
print(Path(swarm.__file__).parent)
"""


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)


@pytest.mark.usefixtures("tiny_model")
def test_one_file_and_one_line(tmp_path: Path) -> None:
    (where,) = re.findall(r"<!-- (\S+) -->", PAGE)
    file, line = blocks(PAGE)
    assert len(file.splitlines()) <= 40
    assert len(line.splitlines()) == 1
    copy = tmp_path / "swarm"
    shutil.copytree(Path(swarm.__file__).parent, copy)
    (tmp_path / where).write_text(file)
    names = copy / "algorithms" / "__init__.py"
    before = names.read_text()
    names.write_text(
        re.sub(r"(NAMES = \(.*?)\n\)", rf"\1\n{line})", before, count=1, flags=re.DOTALL)
    )
    assert len(names.read_text().splitlines()) == len(before.splitlines()) + 1
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "run")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == copy
