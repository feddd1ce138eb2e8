"""Mixtures of sources: drawn by weight, held out in turn, refused by their path."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.own_tasks import SUMS, code, written

from swarm.config.checked import check_value
from swarm.config.parts import TaskSettings
from swarm.config.paths import flat, setting
from swarm.config.train import TrainConfig
from swarm.errors import BadTask, Refusal
from swarm.models.tokenizer import build_tokenizer
from swarm.tasks import load
from swarm.tasks.mixed import Mixture


def sources(folder: Path, **values: Any) -> dict[str, Any]:
    path = written(folder, SUMS)
    return {
        "sums": {"ref": str(path), "weight": 3.0, "reward": "number"},
        "words": {"ref": "reverse", "args": {"min": 3, "max": 4}},
        "mine": {"ref": code(folder), "weight": 0.0},
        **values,
    }


def mixture(folder: Path, **values: Any) -> Mixture:
    task = load(TaskSettings(ref="mixture", sources=sources(folder, **values)))
    assert isinstance(task, Mixture)
    return task


def drawn(task: Mixture, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [task.draw(rng, task.levels) for _ in range(2000)]


def test_prompts_come_by_weight(tmp_path: Path) -> None:
    task = mixture(tmp_path)
    counts = Counter(problem.source for problem in drawn(task))
    assert counts["mine"] == 0
    assert counts["sums"] / 2000 == pytest.approx(0.75, abs=0.03)
    assert drawn(task) == drawn(mixture(tmp_path))


def test_held_out_prompts_come_in_turn_and_are_never_drawn(tmp_path: Path) -> None:
    task = mixture(tmp_path)
    problems = task.evaluation(12)
    assert Counter(p.source for p in problems) == {"sums": 4, "words": 4, "mine": 4}
    assert len(task.evaluation(60)) == 60
    everything = {problem.prompt for problem in task.evaluation(1000)}
    assert not everything & {problem.prompt for problem in drawn(task)}


def test_each_source_is_judged_by_its_own(tmp_path: Path) -> None:
    task = mixture(tmp_path)
    tokenizer = build_tokenizer()
    task.check(tokenizer, TrainConfig())
    for problem in task.evaluation(9):
        text = {"sums": f"it is {problem.answer}.", "words": problem.answer, "mine": "ab"}
        (score,) = task.score(problem, [text[problem.source]])
        assert score.reward == 1.0
        assert tokenizer.decode(task.encode(tokenizer, problem)) == problem.prompt


def test_levels_reach_the_sources_that_have_them(tmp_path: Path) -> None:
    task = mixture(tmp_path)
    assert task.known_levels == (1, 3, 4)
    rng = np.random.default_rng(0)
    assert {task.draw(rng, (1, 2)).source for _ in range(50)} == {"sums"}
    assert {task.draw(rng, (4, 9)).level for _ in range(50)} == {4}


def test_weights_have_no_part_in_the_digest(tmp_path: Path) -> None:
    first = mixture(tmp_path).digest
    weighed = {"ref": str(tmp_path / "data.jsonl"), "weight": 1.0, "reward": "number"}
    assert mixture(tmp_path, sums=weighed).digest == first
    settings = TaskSettings(ref="mixture", sources=sources(tmp_path), digest="a" * 64)
    with pytest.raises(BadTask, match=r"task\.digest: mixture is not what was registered"):
        load(settings)


def test_a_prompt_is_on_one_side_in_all_sources(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shifted = [{**row, "prompt": f" {row['prompt']}\n"} for row in SUMS]
    other = written(tmp_path / "other", shifted)
    task = mixture(tmp_path, other={"ref": str(other)})
    held_out = {p.prompt.strip() for p in task.evaluation(1000)}
    trained = {p.prompt.strip() for p in drawn(task) if p.source in ("sums", "other")}
    assert not held_out & trained


def test_paths_of_sources(tmp_path: Path) -> None:
    config = TrainConfig(task=TaskSettings(ref="mixture", sources=sources(tmp_path)))
    path = "task.sources.sums.weight"
    assert (flat(config)[path], setting(config, path)) == (3.0, 3.0)
    other = config.with_values({path: 0.5})
    assert other.task.sources["sums"].weight == 0.5
    assert other.digest() != config.digest()
    check_value(path, 2.0, "factor")
    with pytest.raises(Refusal, match=r"sums.wieght is not .* did you mean task.sources.sums.wei"):
        check_value("task.sources.sums.wieght", 2.0, "factor")
    with pytest.raises(Refusal, match="greater than or equal to 0"):
        check_value(path, -1.0, "factor")
    with pytest.raises(Refusal, match=r"task\.sources\.sums\.no is not a setting of a source"):
        check_value("task.sources.sums.no", 1, "factor")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"ref": "mixture"}, r"task\.sources: a mixture needs some"),
        ({"ref": "mixture", "sources": {"a": {"ref": "sort", "weight": 0}}}, "none has a weight"),
        ({"ref": "sort", "sources": {"a": {"ref": "sort"}}}, "'sort' is one task, and task.sourc"),
        (
            {"ref": "mixture", "sources": {"a": {"ref": "sort"}}, "split": "test"},
            r"task\.split: each source of a mixture has its own",
        ),
        (
            {"ref": "mixture", "sources": {"a": {"ref": "sort", "reward": "number"}}},
            r"task\.sources\.a\.reward: 'number' is unknown",
        ),
        (
            {"ref": "mixture", "sources": {"a": {"ref": "/none.jsonl"}}},
            r"task\.sources\.a: there is no file /none\.jsonl",
        ),
    ],
)
def test_what_cannot_be_mixed(values: dict[str, Any], named: str) -> None:
    with pytest.raises(BadTask, match=named):
        load(TaskSettings(**values))
