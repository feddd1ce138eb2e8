"""CONTRIBUTING.md adds an algorithm and a task: done so in a copy, both command lines know them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

RUN = """
import contextlib, io, json, sys
from pathlib import Path
import numpy as np
import swarm
from autoresearch.cli import app as researcher
from swarm.cli import app as trainer
from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.advantages import episode_advantages


def said(main, *arguments):
    sys.argv, out = ["command", *arguments], io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main()
        except SystemExit as end:
            assert not end.code, end.code
    return json.loads(out.getvalue())


Path("run.yaml").write_text('''
steps: 1
batch: {rollouts: 16, group_size: 4}
evaluation: {prompts: 16}
task: {ref: distinct, reward: close}
algorithm: {name: lite_ppo}
''')
trained = said(trainer.main, "train", "run.yaml", "--json")
plan = said(researcher.main, "start", "grpo against lite_ppo", "--task", "distinct", "--dry-run",
    "--json")
rewards = [[1.0, 0.0], [0.5, 0.5]]
found = episode_advantages(rewards, AlgorithmSettings(name="lite_ppo"))
expected = np.array([[0.5, -0.5], [0, 0]]) / (np.std([1, 0, 0.5, 0.5], ddof=1) + 1e-4)
assert np.allclose(found, expected)
print(json.dumps([swarm.__file__, trained, plan]))
"""


def test_a_new_algorithm_and_a_new_task_are_one_file_and_one_line_each(tmp_path: Path) -> None:
    for package in ("autoresearch", "swarm"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    shutil.copytree(ROOT / "playbooks", tmp_path / "playbooks")
    page = (ROOT / "CONTRIBUTING.md").read_text()
    add(page, "A new algorithm", tmp_path, "NAMES = (\n")
    add(page, "A new task", tmp_path, "_CLASSES = (\n")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "AUTORESEARCH_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    where, trained, plan = json.loads(done.stdout.splitlines()[-1])
    assert Path(where).is_relative_to(tmp_path)
    assert (trained["status"], trained["steps"]) == ("finished", 1)
    assert plan["tasks"] == ["distinct"]
    assert "lite_ppo" in json.dumps(plan["arms"])


def add(page: str, title: str, root: Path, list_of_names: str) -> None:
    """Write the file of a section, and its line below `list_of_names` of the room."""
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    (where,) = re.findall(r"<!-- (\S+) -->", section)
    file, line = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert line.count("\n") == 1
    (root / where).write_text(file)
    names = (root / where).with_name("__init__.py")
    before, found, rest = names.read_text().partition(list_of_names)
    assert found
    names.write_text(before + found + line + rest)
