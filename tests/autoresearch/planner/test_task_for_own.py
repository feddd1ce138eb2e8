"""Plans on the user's own rows and rewards: hashed, fitted, refused."""

import json
import re
from pathlib import Path

import pytest
from support.plans import OWN_ROWS, TOPIC, plan_for

from autoresearch.planner.task_for import require_usable
from autoresearch.study.options import StartOptions, start_command
from autoresearch.study.plan import Plan
from swarm.config.base import JsonValue
from swarm.errors import Refusal

CODE = """
from types import SimpleNamespace

def make():
    rows = [{"prompt": f"R:{a}{b}>"} for a in "abcdefgh" for b in "abcdefgh"]
    return SimpleNamespace(rows=rows, reward=lambda completions, **_: [0.0] * len(completions))
"""


def plan(task: str, topic: str = TOPIC, **values: JsonValue) -> Plan:
    return plan_for(topic, task=task, profile="smoke", set=values)


def test_the_files_digest_is_in_the_plan_and_in_every_trial(data: Path) -> None:
    first = plan(str(data))
    assert first.tasks == (str(data),)
    config = first.train_config(first.arms[1].id, str(data), 3, {})
    assert (config.task.ref, config.task.reward) == (str(data), "exact")
    assert len(config.task.digest) == 64
    assert plan(str(data)).digest() == first.digest()
    data.write_text(data.read_text().replace('"answer": "ba"', '"answer": "bb"'))
    again = plan(str(data))
    assert again.digest() != first.digest()
    assert again.train_config(first.arms[1].id, str(data), 3, {}).digest() != config.digest()


def test_changed_files_are_refused_before_a_study_goes_on(data: Path) -> None:
    made = plan(str(data))
    require_usable(made)
    data.write_text(data.read_text() + json.dumps({"prompt": "a", "answer": "b"}))
    with pytest.raises(Refusal, match=r"task\.digest: .*is not what was registered"):
        require_usable(made)


def test_evaluation_is_planned_on_the_prompts_there_are(data: Path) -> None:
    made = plan(str(data))
    prompts = made.train_config(made.arms[0].id, str(data), 0, {}).evaluation.prompts
    assert 1 <= prompts < len(OWN_ROWS) / 4
    assert any(f"{prompts} held-out prompts are all there are" in note for note in made.notes)


def test_code_brings_its_reward(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    ref = f"{tmp_path / 'mine.py'}:make"
    made = plan(ref)
    assert {made.train_config(arm.id, ref, 0, {}).task.reward for arm in made.arms} == {"own"}
    assert f"--task {ref}" in start_command(StartOptions(topic=TOPIC, task=ref))


class TestRefusals:
    @pytest.mark.parametrize(
        ("task", "named"),
        [
            ("data.txt", "task: 'data.txt' names no task; give rows (data.jsonl) or file.py:make"),
            ("none.jsonl", "task: there is no file none.jsonl"),
            ("none.py:make", "task: there is no file none.py"),
            ("revers", "task: 'revers' is unknown"),
        ],
    )
    def test_what_names_no_task(self, task: str, named: str) -> None:
        with pytest.raises(Refusal, match=re.escape(named)):
            plan(task)

    def test_what_tiny_cannot_write(self, data: Path) -> None:
        data.write_text(data.read_text() + json.dumps({"prompt": "Why?", "answer": "b"}))
        with pytest.raises(Refusal, match=r"task: row 65: .* cannot write 'W\?'"):
            plan(str(data))

    def test_a_digest_set_by_hand(self, data: Path) -> None:
        with pytest.raises(Refusal, match=r"task\.digest has an option of its own"):
            plan(str(data), **{"task.digest": "a" * 64})

    def test_rewards_that_rows_do_not_offer(self, data: Path) -> None:
        with pytest.raises(Refusal, match="offers no reward partial"):
            plan(str(data), topic="partial credit or exact reward?")

    def test_supervision_without_answers(self, tmp_path: Path) -> None:
        (tmp_path / "mine.py").write_text(CODE)
        with pytest.raises(Refusal, match="to imitate"):
            plan(f"{tmp_path / 'mine.py'}:make", topic="how much SFT before RL")
