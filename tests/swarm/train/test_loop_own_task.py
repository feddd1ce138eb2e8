"""Whole runs on the user's own rows and rewards, on `tiny`."""

import json
from pathlib import Path

import pytest
from support.tiny_runs import Killed, kill_at, rows, small

from swarm.config.train import TrainConfig
from swarm.disk.folder import EVENTS, ROLLOUTS, manifest_digest, read_rows
from swarm.disk.run_config import read_config
from swarm.errors import BadTask, RewardFailed
from swarm.train.loop import train

CODE = """
from types import SimpleNamespace

def paid(prompts, completions, wanted, **columns):
    return {body}

def make():
    rows = [{{"prompt": f"R:{{a}}{{b}}c>", "wanted": "c"}} for a in "abcdefgh" for b in "abcdefgh"]
    return SimpleNamespace(rows=rows, reward=paid)
"""
FIRST_LETTER = "[None if not c else float(c[0] == w) for c, w in zip(completions, wanted)]"


def coded(folder: Path, body: str = FIRST_LETTER) -> TrainConfig:
    path = folder / "mine.py"
    path.write_text(CODE.format(body=body))
    raw = small().model_dump(mode="json")
    raw["task"] = {"ref": f"{path}:make"}
    return TrainConfig.model_validate(raw)


def test_a_reward_of_the_users_own_trains(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert train(coded(tmp_path), folder).status == "finished"
    assert manifest_digest(folder) is not None
    for row in read_rows(folder / ROLLOUTS):
        assert row["reward"] == (None if not row["completion"] else row["completion"][0] == "c")
    assert rows(folder)[-1]["tokens/trained"] > 0
    assert len(read_config(folder).task.digest) == 64


def test_a_failing_reward_fails_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(RewardFailed, match=r"paid in .*mine\.py returned 1 values for 4 .* row"):
        train(coded(tmp_path, "[0.0]"), folder)
    assert [row["kind"] for row in read_rows(folder / EVENTS)][-1] == "failed"
    assert manifest_digest(folder) is None


def test_a_run_is_not_resumed_on_other_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    lines = [{"prompt": f"R:{a}{b}>", "answer": b + a} for a in "abcdefgh" for b in "abcdefgh"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    raw = small().model_dump(mode="json")
    config = TrainConfig.model_validate({**raw, "task": {"ref": str(path)}})
    folder = tmp_path / "run"
    with pytest.raises(Killed):
        train(config, folder, on_step=kill_at(3))
    registered = read_config(folder)
    path.write_text(path.read_text() + json.dumps({"prompt": "R:xy>", "answer": "xx"}))
    with pytest.raises(BadTask, match=r"task\.digest"):
        train(registered, folder, resume_from=folder)


def test_what_the_model_cannot_write_is_refused_before_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(f'{{"prompt": "Q{i}", "answer": "1"}}\n' for i in range(40)))
    raw = small().model_dump(mode="json")
    with pytest.raises(BadTask, match=r"row \d+: this model's tokenizer cannot write 'Q'"):
        train(TrainConfig.model_validate({**raw, "task": {"ref": str(path)}}), tmp_path / "run")
    assert not (tmp_path / "run" / "metrics.jsonl").exists()
