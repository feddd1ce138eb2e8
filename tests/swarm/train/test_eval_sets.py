"""Evaluation sets beside the training rows."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from swarm.config.parts import EvalSet
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.tasks.own import OwnTask
from swarm.train import eval_sets
from swarm.train.eval_sets import (
    Ready,
    answers_of_sets,
    judged_as,
    load_sets,
    load_training,
    with_digests,
)
from swarm.train.metric_table import set_of

ROWS = [{"prompt": f"R:{a}{b}{c}>", "answer": c + b + a} for a, b, c in product("abcdef", repeat=3)]


def rows_in(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def ready(config: TrainConfig) -> tuple[Ready, ...]:
    return load_sets(config, load_training(config))


def config_of(folder: Path, *sets: dict[str, Any], **fields: Any) -> TrainConfig:
    task = {"ref": rows_in(folder / "train.jsonl", ROWS[:150])}
    small = {"steps": 2, "batch": {"rollouts": 16, "group_size": 4}}
    evaluation = {"every": 1, "sets": list(sets)}
    return TrainConfig.model_validate({"task": task, "evaluation": evaluation, **small, **fields})


def test_all_rows_train_where_others_are_evaluated_on(tmp_path: Path) -> None:
    ref = rows_in(tmp_path / "test.jsonl", ROWS[150:])
    config = config_of(tmp_path, {"ref": ref})
    task = load_training(config)
    assert isinstance(task, OwnTask)
    assert len(task.train) == 150
    (found,) = load_sets(config, task)
    assert [p.prompt for p in found.problems] == [row["prompt"] for row in ROWS[150:]]
    filled = with_digests(config, (found,)).evaluation.sets[0]
    assert (filled.prompts, len(filled.digest)) == (66, 64)


def test_prompts_that_are_trained_on_are_refused_with_their_count(tmp_path: Path) -> None:
    loud = [{**row, "prompt": row["prompt"].upper()} for row in ROWS[100:103]]
    ref = rows_in(tmp_path / "test.jsonl", [*ROWS[148:152], *loud])
    config = config_of(tmp_path, {"ref": ref})
    with pytest.raises(BadTask, match=r"5 of its 7 prompts are trained on \(2 word for word"):
        ready(config)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"prompts": 67}, "66 prompts, not 67"),
        ({"ref": "nowhere.jsonl"}, "nowhere.jsonl"),
        ({"digest": "0" * 64}, "not what was registered"),
        ({"reward": "exactly"}, "exact"),
        ({"columns": {"prompt": "promt"}}, "promt"),
    ],
)
def test_a_set_that_cannot_be_used_is_named(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    ref = rows_in(tmp_path / "test.jsonl", ROWS[150:])
    config = config_of(tmp_path, {"ref": ref, **fields})
    with pytest.raises(BadTask, match=words) as refused:
        ready(config)
    assert refused.value.field.startswith("evaluation.sets.0")


def test_sets_that_make_no_sense_are_refused_before_any_file_is_read() -> None:
    for sets, words in (
        ([{"ref": "a/t.jsonl"}, {"ref": "b/t.jsonl", "k": 2}], "two sets are called t"),
        ([{"ref": "t.jsonl", "k": 4, "temperature": 0}], "one answer 4 times"),
        ([{"ref": "held-out", "split": "test"}], "split is the training task's"),
    ):
        with pytest.raises(ValidationError, match=words):
            TrainConfig.model_validate({"evaluation": {"sets": sets}})


@pytest.mark.parametrize(
    ("ref", "title"),
    [
        ("/data/My Test.v2.jsonl", "my-test-v2"),
        ("/data/c:d/test.parquet", "test"),
        ("/code/tasks.py:make", "tasks"),
        ("hf:openai/gsm8k/main", "gsm8k-main"),
        ("hf:HuggingFaceH4/MATH-500", "math-500"),
        ("reverse", "reverse"),
        ("held-out", "held-out"),
        ("тест.jsonl", "set"),
    ],
)
def test_a_set_is_called_after_its_ref(ref: str, title: str) -> None:
    assert EvalSet(ref=ref).title == title
    assert set_of(f"eval/{title}/avg@1") == title


def test_a_family_has_as_many_prompts_as_are_asked_for_and_no_more_than_it_has(
    tmp_path: Path,
) -> None:
    few = {"ref": "reverse", "args": {"min": 2, "max": 2}}
    (short,) = ready(config_of(tmp_path, few))
    assert 0 < len(short.problems) < TrainConfig().evaluation.prompts
    with pytest.raises(BadTask, match="held-out prompts that 'reverse' has") as refused:
        ready(config_of(tmp_path, {**few, "prompts": 512}))
    assert refused.value.field == "evaluation.sets.0.prompts"


def test_rows_that_nothing_can_judge_are_named_with_the_settings_of_their_set(
    tmp_path: Path,
) -> None:
    ref = rows_in(tmp_path / "test.jsonl", [{"prompt": "R:abc>"}])
    config = config_of(tmp_path, {"ref": "reverse"}, {"ref": ref})
    with pytest.raises(BadTask, match="test: row 1 has no `answer`") as refused:
        ready(config)
    assert "evaluation.sets.1.columns.answer" in refused.value.next_step
    assert "evaluation.sets.1.reward=file.py:function" in refused.value.next_step


def test_rows_may_be_judged_by_a_reward_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text(
        "def r(prompts, completions, **c):\n    return [1.0] * len(prompts)\n"
    )
    ref = rows_in(tmp_path / "test.jsonl", [{"prompt": "R:zzz>"}])
    config = config_of(tmp_path, {"ref": ref, "reward": f"{tmp_path / 'r.py'}:r"})
    (found,) = ready(config)
    assert [s.correct for s in found.task.score(found.problems[0], ["", "x"])] == [True, True]
    (tmp_path / "r.py").write_text(
        "def r(prompts, completions, **c):\n    return [0.0] * len(prompts)\n"
    )
    with pytest.raises(BadTask, match="not what was registered"):
        ready(with_digests(config, (found,)))


def test_what_a_set_leaves_open_is_filled_in_once(tmp_path: Path) -> None:
    """An arm that trains on another reward is judged as the others are."""
    ref = rows_in(tmp_path / "test.jsonl", ROWS[150:])
    config = config_of(tmp_path, {"ref": ref}, {"ref": "held-out"}, {"ref": "sort", "prompts": 5})
    filled = with_digests(config, ready(config))
    assert [(s.name, s.reward) for s in filled.evaluation.sets] == [
        ("test", "exact"),
        ("held-out", "exact"),
        ("sort", "exact"),
    ]
    other = filled.with_values({"task.reward": "choice"})
    right = [{**row, "answer": "b"} for row in ROWS[:150]]
    rows_in(tmp_path / "train.jsonl", right)
    sets = ready(other)
    assert [s.reward for s in sets] == ["exact", "exact", "exact"]
    assert sets[1].task.score(sets[1].problems[0], ["(B)"])[0].correct is False
    assert judged_as(other).reward == judged_as(other, "eval/held-out/avg@1").reward == "exact"
    assert with_digests(filled, ready(filled)) == filled


def test_more_answers_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = rows_in(tmp_path / "test.jsonl", ROWS[150:])
    monkeypatch.setattr(eval_sets, "MOST_ANSWERS", 66 * 4)
    four, five = ({"ref": ref, "k": k} for k in (4, 5))
    assert ready(config_of(tmp_path, four))
    with pytest.raises(
        BadTask, match="5 answers to each of 66 prompts are more than 264"
    ) as refused:
        ready(config_of(tmp_path, five))
    assert refused.value.field == "evaluation.sets.0.k"
    monkeypatch.setattr(eval_sets, "MOST_PROMPTS", 65)
    with pytest.raises(BadTask, match="it has 66 prompts, and an evaluation takes at most 65"):
        ready(config_of(tmp_path, {"ref": ref}))


def test_sources_of_a_mixture_that_train_are_held_apart(tmp_path: Path) -> None:
    a, b = rows_in(tmp_path / "a.jsonl", ROWS[:50]), rows_in(tmp_path / "b.jsonl", ROWS[50:100])
    for weight, refused in ((0.0, False), (1.0, True)):
        sources = {"a": {"ref": a}, "b": {"ref": b, "weight": weight}}
        raw = {
            "task": {"ref": "mixture", "sources": sources},
            "evaluation": {"sets": [{"ref": b}]},
        }
        config = TrainConfig.model_validate(raw)
        if refused:
            with pytest.raises(BadTask, match="50 of its 50 prompts are trained on"):
                ready(config)
        else:
            assert len(ready(config)[0].problems) == 50
    with pytest.raises(BadTask, match="it is a mixture, and a set is of one source"):
        ready(config_of(tmp_path, {"ref": "mixture"}))


def test_answers_of_an_evaluation_are_prompts_times_k() -> None:
    sets = [{"ref": "reverse", "prompts": 10, "k": 4}, {"ref": "sort", "k": 2}]
    config = TrainConfig.model_validate({"evaluation": {"prompts": 100, "sets": sets}})
    assert answers_of_sets(config) == 10 * 4 + 100 * 2
    assert answers_of_sets(TrainConfig()) == TrainConfig().evaluation.prompts


def test_planning_with_sets_loads_no_torch() -> None:
    modules = "sys, swarm.train.eval_sets, autoresearch.planner.compose"
    code = f"import {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"
