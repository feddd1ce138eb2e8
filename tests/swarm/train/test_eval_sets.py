"""Evaluation sets beside the training rows."""

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.tasks.own import OwnTask
from swarm.train.eval_sets import load_sets, load_training, with_digests
from swarm.train.evaluate import evaluate, share
from swarm.train.loop import train
from swarm.train.metrics import pass_at, passes

ROWS = [{"prompt": f"R:{a}{b}{c}>", "answer": c + b + a} for a, b, c in product("abcdef", repeat=3)]


def rows_in(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


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
        load_sets(config, load_training(config))


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
        load_sets(config, load_training(config))
    assert refused.value.field.startswith("evaluation.sets.0")


def test_two_sets_have_two_names(tmp_path: Path) -> None:
    config = config_of(tmp_path, {"ref": "reverse"}, {"ref": "reverse", "k": 2})
    with pytest.raises(BadTask, match="called reverse"):
        load_sets(config, load_training(config))


@pytest.mark.parametrize(("n", "right"), [(4, 0), (4, 1), (4, 3), (6, 2), (5, 5)])
def test_pass_at_is_the_share_of_choices_with_a_right_answer(n: int, right: int) -> None:
    answers = [True] * right + [False] * (n - right)
    for j in range(1, n + 1):
        chosen = [any(choice) for choice in combinations(answers, j)]
        assert pass_at(j, n, right) == pytest.approx(sum(chosen) / len(chosen))
    assert passes(6) == (1, 2, 4, 6)
    assert passes(1) == (1,)


def test_an_interval_holds_its_mean_and_stays_a_share() -> None:
    assert share([1.0, 1.0, 0.0]).low > 0.09
    some = share([0.25, 0.5, 0.75, 1.0])
    assert 0 <= some.low < 0.625 < some.high <= 1


def _metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line)["metrics"] for line in (folder / "metrics.jsonl").open()]


def test_a_run_reports_its_sets_and_one_more_changes_no_other(tmp_path: Path) -> None:
    ref = rows_in(tmp_path / "test.jsonl", ROWS[150:])
    first = {"ref": ref, "k": 4, "prompts": 12}
    one, two = (
        config_of(tmp_path, first),
        config_of(tmp_path, first, {"ref": "reverse", "k": 2, "prompts": 8}),
    )
    train(one, tmp_path / "one")
    train(two, tmp_path / "two")
    for a, b in zip(_metrics(tmp_path / "one"), _metrics(tmp_path / "two"), strict=True):
        assert a["eval/acc"] == a["eval/test/avg@4"] == a["eval/test/pass@1"]
        assert a["eval/test/pass@1"] <= a["eval/test/pass@2"] <= a["eval/test/pass@4"]
        assert {
            k: v for k, v in a.items() if "time" not in k and "perf" not in k
        }.items() <= b.items()
        assert "eval/reverse/avg@2" in b
    found = evaluate(two, tmp_path / "two")
    assert found.sets[1].avg.value == _metrics(tmp_path / "two")[-1]["eval/reverse/avg@2"]
    assert found.sets[0].digest == load_sets(one, load_training(one))[0].digest
