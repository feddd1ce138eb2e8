"""`task.reward: file.py:function` beside rows, in TRL's signature and in verl's."""

import re
from pathlib import Path
from typing import Any

import pytest
from support.own_tasks import SUMS, own, written

from swarm.errors import BadTask, RewardFailed
from swarm.tasks import Answer, Task, offers

PLAIN = [{"prompt": row["prompt"], "solution": str(row["answer"])} for row in SUMS]

TRL = """
def reward(completions, solution, **kwargs):
    seen.append(kwargs)
    return [1.0 if c == s else None if c == "" else 0.25 for c, s in zip(completions, solution)]
seen = []
"""

VERL = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    assert (data_source, extra_info) == ("sums", {"index": 3})
    return {"score": 0.5, "acc": solution_str == ground_truth}
"""


def judged(folder: Path, code: str, rows: list[dict[str, Any]], name: str) -> Task:
    (folder / "score.py").write_text(code)
    return own(written(folder, rows), reward=f"{folder / 'score.py'}:{name}")


def answers(*texts: str) -> list[Answer]:
    return [Answer(text, range(len(text)), 7) for text in texts]


def scores(task: Task, *texts: str) -> list[tuple[float | None, bool | None]]:
    return [(s.reward, s.correct) for s in task.score(task.evaluation(1)[0], answers(*texts))]


def test_trl(tmp_path: Path) -> None:
    task = judged(tmp_path, TRL, PLAIN, "reward")
    right = task.evaluation(1)[0].answer
    assert scores(task, right, "x", "") == [(1.0, True), (0.25, False), (None, None)]


def test_trl_gets_what_trl_passes(tmp_path: Path) -> None:
    code = """
async def reward(prompts, completions, completion_ids, trainer_state, log_extra, answer, **kwargs):
    import asyncio
    await asyncio.sleep(0)
    log_extra("seen", completions)
    assert len(prompts) == len(answer) == len(completions)
    assert callable(kwargs["log_metric"]) and "solution" in kwargs
    return [len(ids) + trainer_state.global_step for ids in completion_ids]
"""
    task = judged(tmp_path, code, PLAIN, "reward")
    assert scores(task, "ab", "c") == [(9.0, True), (8.0, True)]


def test_trl_without_kwargs_gets_what_it_names(tmp_path: Path) -> None:
    task = judged(tmp_path, "def f(completions):\n    return [0] * len(completions)", PLAIN, "f")
    assert scores(task, "a") == [(0.0, False)]


@pytest.mark.parametrize("word", ["def", "async def"])
def test_verl(tmp_path: Path, word: str) -> None:
    rows = [
        {
            "data_source": "sums",
            "prompt": [{"role": "user", "content": row["prompt"]}],
            "reward_model": {"style": "rule", "ground_truth": str(row["answer"])},
            "extra_info": {"index": 3},
        }
        for row in SUMS
    ]
    task = judged(tmp_path, VERL.replace("def", word, 1), rows, "compute_score")
    right = task.evaluation(1)[0].answer
    assert scores(task, right, "x") == [(0.5, True), (0.5, False)]


def test_a_ground_truth_that_is_a_list_reaches_it(tmp_path: Path) -> None:
    code = "def s(solution_str, ground_truth):\n    return float(solution_str in ground_truth)"
    rows = [{"prompt": row["prompt"], "reward_model": {"ground_truth": ["a", "b"]}} for row in SUMS]
    assert scores(judged(tmp_path, code, rows, "s"), "b", "c") == [(1.0, True), (0.0, False)]
    with pytest.raises(BadTask, match=r"row 1: its reward_model\.ground_truth is list"):
        own(tmp_path / "data.jsonl")


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (
            "def f(completions, solutions, **k): ...",
            "task.reward: f in score.py takes 'solutions', and row 1 has 'answer', 'solution'; "
            "rename the parameter or the column; did you mean solution?",
        ),
        ("def f(text, gold): ...", "f in score.py takes text, gold: no reward function"),
        ("def f(): ...", "f in score.py takes nothing: no reward function"),
        ("f = 3", "score.py has no function 'f'"),
        ("def ff(completions): ...", "score.py has no function 'f'; did you mean ff?"),
        ("1 / 0", "task.reward: score.py raised ZeroDivisionError"),
        (
            "def f(solution_str, ground_truth, other): ...",
            "takes 'other', which verl does not pass",
        ),
    ],
)
def test_what_does_not_fit_is_refused_at_load(tmp_path: Path, code: str, named: str) -> None:
    with pytest.raises(BadTask, match=re.escape(named)):
        judged(tmp_path, code, PLAIN, "f")


def test_a_row_without_the_truth_is_named(tmp_path: Path) -> None:
    rows = [*PLAIN, {"prompt": "?"}]
    with pytest.raises(BadTask, match="takes 'ground_truth', and row 101 has neither"):
        judged(tmp_path, "def f(solution_str, ground_truth): ...", rows, "f")


@pytest.mark.parametrize(
    ("value", "named"),
    [("{'acc': 1}", "returned a dict without 'score'"), ("'1'", "which is not a finite number")],
)
def test_what_is_no_score_ends_the_run(tmp_path: Path, value: str, named: str) -> None:
    code = f"def f(solution_str, ground_truth):\n    return {value}"
    task = judged(tmp_path, code, PLAIN, "f")
    with pytest.raises(RewardFailed, match=re.escape(named)):
        scores(task, "a")


def test_its_file_is_part_of_the_digest(tmp_path: Path) -> None:
    before = judged(tmp_path, TRL, PLAIN, "reward").digest
    assert judged(tmp_path, TRL, PLAIN, "reward").digest == before
    assert judged(tmp_path, TRL + "# changed\n", PLAIN, "reward").digest != before
    assert judged(tmp_path, TRL, PLAIN[1:], "reward").digest != before


def test_only_rows_take_one() -> None:
    assert offers("data.parquet", "score.py:f")
    assert not offers("mine.py:make", "score.py:f")
    assert not offers("reverse", "score.py:f")
