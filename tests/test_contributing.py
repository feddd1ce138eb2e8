"""CONTRIBUTING.md says how a figure of the loss is added: done so in a copy, it is logged."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

RUN = """
import json, sys
from pathlib import Path
import swarm
from autoresearch.study.metrics import METRICS, unit_of
from swarm.config.train import TrainConfig
from swarm.disk.folder import METRICS as FILE, read_rows
from swarm.train.loop import train

name = sys.argv[1]
small = {"steps": 1, "batch.rollouts": 16, "batch.group_size": 4, "evaluation.prompts": 4}
train(TrainConfig().with_values(small), Path("run"))
values = [row["metrics"][name] for row in read_rows(Path("run") / FILE) if name in row["metrics"]]
print(json.dumps([swarm.__file__, values, unit_of(name), METRICS[name].title]))
"""


def test_a_new_figure_of_the_loss_is_two_lines(tmp_path: Path) -> None:
    for package in ("autoresearch", "swarm"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## A new figure of the loss")[2].partition("\n## ")[0]
    figure, metric = re.findall(r"```python\n(.*\n)```", section)
    insert(tmp_path / "swarm/learn/loss.py", "    sums |= {\n", figure)
    insert(tmp_path / "swarm/train/metric_table.py", "_TABLE = (\n", metric)
    name, meaning, unit = re.findall(r'"(.*?)"', metric)[:3]
    done = subprocess.run(
        [sys.executable, "-c", RUN, name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    where, (value,), *said = json.loads(done.stdout.splitlines()[-1])
    assert Path(where).is_relative_to(tmp_path)
    assert 0 < value < 1
    assert said == [unit, meaning]


def insert(file: Path, after: str, line: str) -> None:
    before, found, rest = file.read_text().partition(after)
    assert found
    file.write_text(before + found + line + rest)
