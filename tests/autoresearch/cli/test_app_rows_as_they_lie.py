"""Each pair of commands of docs/own-tasks.md for rows as they lie, run as it stands there."""

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.row_files import as_arrow, as_parquet
from typer.testing import CliRunner

from autoresearch.cli.app import app as autoresearch
from swarm.cli.app import app as swarm
from swarm.config.base import canonical_digest
from swarm.disk.folder import read_series
from swarm.disk.run_config import read_config

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "own-tasks.md").read_text()

pytestmark = pytest.mark.usefixtures("tiny_model")

Sum = tuple[int, int]
SUMS = [(a, b) for a in range(10) for b in range(10)]
TRAINED, TESTED = SUMS[:80], SUMS[80:]


def commands(title: str) -> list[list[str]]:
    """Write the files that the page shows below this title, and give its commands."""
    part = PAGE.partition(f"**{title}")[2].partition("\n**")[0].partition("\n## ")[0]
    for name, text in re.findall(r"`([\w.]+)`:\n\n```(?:python|yaml)\n(.*?)```", part, re.DOTALL):
        Path(name).write_text(text)
    [shell] = re.findall(r"```sh\n(.*?)```", part, re.DOTALL)
    found = [shlex.split(line) for line in shell.splitlines()]
    assert len(found) == 2
    return found


def run(words: Sequence[str]) -> str:
    app = {"swarm": swarm, "autoresearch": autoresearch}[words[0]]
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.stdout


def sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def verl(sums: Sequence[Sum]) -> list[dict[str, Any]]:
    return [
        {
            "data_source": "sums",
            "prompt": [{"role": "user", "content": f"{a}+{b}="}],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": str(a + b)},
            "extra_info": {"index": 10 * a + b},
        }
        for a, b in sums
    ]


def saved(folder: Path, sums: Sequence[Sum]) -> None:
    """As `Dataset.save_to_disk` writes a split."""
    folder.mkdir(parents=True)
    rows = [{"prompt": f"{a}+{b}=", "solution": str(a + b)} for a, b in sums]
    (folder / "a.arrow").write_bytes(as_arrow(rows))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))


def sharegpt(sums: Sequence[Sum]) -> str:
    return json.dumps(
        [
            {
                "conversations": [
                    {"from": "human", "value": f"{a}+{b}="},
                    {"from": "gpt", "value": str(a + b)},
                ]
            }
            for a, b in sums
        ]
    )


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path))


@pytest.mark.learns
@pytest.mark.timeout(600)
def test_parquet_of_verls_with_its_score() -> None:
    for name, sums in (("train", TRAINED), ("test", TESTED)):
        Path(f"{name}.parquet").write_bytes(as_parquet(verl(sums)))
    dry, start = commands("Parquet as verl")
    assert shlex.join(start) in map(_joined, (ROOT / "README.md").read_text().splitlines())
    assert "verl" in run(dry)
    run(start)
    [report] = Path("reports").glob("*/report.md")
    claims = (report.parent / "claims.json").read_text()
    for rows in ("train.parquet", "test.parquet"):
        digest = canonical_digest([sha256("score.py"), sha256(rows)])
        assert digest in claims
        assert digest[:12] in report.read_text()


def _joined(line: str) -> str:
    return shlex.join(shlex.split(line)) if line.startswith("autoresearch start ") else line


@pytest.mark.learns
def test_a_data_set_of_trls_with_its_reward() -> None:
    Path("sums").mkdir()
    Path("sums/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    for name, sums in (("train", TRAINED), ("test", TESTED)):
        saved(Path("sums") / name, sums)
    for words in commands("A data set as TRL"):
        run(words)
    config = read_config(Path("trl"))
    [tested] = config.evaluation.sets
    assert len({config.task.digest, tested.digest, ""}) == 3
    assert tested.prompts == len(TESTED)
    assert len(read_series(Path("trl"), "reward/mean")) == 4
    before = config.task.digest
    saved(Path("again"), TRAINED[:-1])
    Path("again/a.arrow").replace("sums/train/a.arrow")
    other = json.loads(run(["swarm", "train", "trl.yaml", "--dry-run", "--json"]))
    assert other["task"]["digest"] != before
    assert other["evaluation"]["sets"][0]["digest"] == tested.digest


def test_conversations_of_sharegpt() -> None:
    for name, sums in (("chats", TRAINED), ("test_chats", TESTED)):
        Path(f"{name}.json").write_text(sharegpt(sums))
    for words in commands("Conversations as ShareGPT"):
        run(words)
    config = read_config(Path("chats"))
    assert config.task.digest == sha256("chats.json")
    [tested] = config.evaluation.sets
    assert tested.digest == sha256("test_chats.json")
    losses = [row[2] for row in read_series(Path("chats"), "loss/policy")]
    assert len(losses) == 20
    assert losses[-1] < losses[0]
