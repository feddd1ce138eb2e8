"""What is shown of evaluation sets."""

import json
import sys
from itertools import product
from pathlib import Path

import pytest
from support.commands import Said
from support.own_tasks import written

from swarm.cli import app

pytestmark = pytest.mark.usefixtures("tiny_model")

WORDS = ["".join(letters) for letters in product("abcd", repeat=4)]
ROWS = [{"prompt": f"R:{word}>", "answer": word[::-1]} for word in WORDS]
CONFIG = """
task: {ref: train.jsonl}
steps: 2
batch: {rollouts: 8, group_size: 4}
evaluation:
  every: 2
  sets:
    - {ref: test.jsonl, k: 4, prompts: 8}
    - {ref: sort, prompts: 4, temperature: 0, name: greedy}
"""


@pytest.fixture
def swarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture):
    """`swarm("train", …)`: what a command says of a config with two sets."""
    written(tmp_path, ROWS[::2], "train.jsonl")
    written(tmp_path, ROWS[1::2], "test.jsonl")
    (tmp_path / "c.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)

    def command(verb: str, *words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["swarm", verb, "c.yaml", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            app.main()
        said = capfd.readouterr()
        return Said(int(end.value.code or 0), said.out, said.err)

    return command


def test_a_run_and_an_evaluation_tell_of_each_set(swarm, tmp_path: Path) -> None:
    trained = swarm("train", "--out", "run")
    assert trained.code == 0
    assert "avg@4 on test" in trained.out
    assert "avg@1 on greedy" in trained.out
    assert "held-out accuracy" not in trained.out

    lines = swarm("eval", "--adapter", "run").out.splitlines()
    first = lines.index(next(line for line in lines if line.startswith("test: ")))
    assert lines[first].startswith(f"test: 8 prompts of {tmp_path}/test.jsonl, sha256 ")
    assert lines[first].endswith("4 answers each, at temperature 1")
    names = [line.split()[0] for line in lines[first + 1 : first + 5]]
    assert names == ["avg@4", "pass@1", "pass@2", "pass@4"]
    assert all("95 % interval" in line for line in lines[first + 1 : first + 5])
    greedy = lines.index("greedy: 4 prompts of sort, one answer each, greedy")
    assert [line.split()[0] for line in lines[greedy + 1 :]] == ["avg@1", "reward"]

    document = json.loads(swarm("eval", "--adapter", "run", "--json").out)
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").open()]
    for each in document["sets"]:
        for name, share in each["shares"].items():
            assert share["value"] == rows[-1]["metrics"][name]
            assert 0 <= share["low"] <= share["value"] <= share["high"] <= 1
    ended = json.loads(swarm("train", "--out", "run", "--resume", "--json").out)
    assert ended["eval/test/avg@4"]["last"] == document["accuracy"]


def test_a_set_of_which_no_answer_is_judged_fails(swarm, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text(
        "def none(prompts, completions, **_):\n    return [None] * len(prompts)\n"
    )
    raw = CONFIG.replace("k: 4, prompts: 8", "prompts: 2, reward: none.py:none")
    (tmp_path / "c.yaml").write_text(raw)
    said = swarm("eval")
    assert said.code == app.FAILED
    assert "alarm: nothing-scored: the reward scored no" in said.err
    assert "avg@1 not measured, 95 % interval unknown" in said.out
    assert "2 of 2 answers were not judged" in said.out
