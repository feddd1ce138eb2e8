"""Runs that are evaluated on sets of their own."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.own_tasks import written
from support.tiny_runs import SMALL, assert_same_run, in_stretches, rows, same_weights, small

from swarm.config.train import TrainConfig
from swarm.disk.folder import EVENTS, read_rows
from swarm.disk.run_config import read_config
from swarm.errors import BadTask, Refusal
from swarm.train.evaluate import evaluate
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")

WORDS = [f"{a}{b}{c}{d}" for a, b, c, d in product("abcde", repeat=4)]
ROWS = [{"prompt": f"R:{word}>", "answer": word[::-1]} for word in WORDS]


@pytest.fixture
def trained(tmp_path: Path) -> str:
    return str(written(tmp_path, ROWS[::3], "train.jsonl"))


@pytest.fixture
def test_set(tmp_path: Path) -> dict[str, Any]:
    ref = str(written(tmp_path, ROWS[1::3], "test.jsonl"))
    return {"ref": ref, "k": 4, "prompts": 12}


def config_of(ref: str, *sets: dict[str, Any], **fields: Any) -> TrainConfig:
    kept = {name: value for name, value in SMALL.items() if not name.startswith("task.args")}
    config = TrainConfig().with_values({**kept, "task.ref": ref, **fields})
    evaluation = config.evaluation.model_dump() | {"sets": sets}
    return TrainConfig.model_validate(config.model_dump() | {"evaluation": evaluation})


def test_a_run_reports_its_sets_and_one_more_changes_no_other(
    tmp_path: Path, trained: str, test_set: dict[str, Any]
) -> None:
    other = {"ref": "sort", "k": 2, "prompts": 8, "temperature": 0.5}
    one, two = config_of(trained, test_set), config_of(trained, test_set, other)
    train(one, tmp_path / "one")
    train(two, tmp_path / "two")
    assert same_weights(tmp_path / "one", tmp_path / "two")
    for a, b in zip(rows(tmp_path / "one"), rows(tmp_path / "two"), strict=True):
        assert repr({name: b[name] for name in a}) == repr(a)
        more = {name for name in b if name not in a}
        assert more == (
            {f"eval/sort/{name}" for name in ("avg@2", "pass@1", "pass@2", "length")}
            if "eval/acc" in a
            else set()
        )
    evaluated = [row for row in rows(tmp_path / "one") if "eval/acc" in row]
    assert [row["step"] for row in evaluated] == [0, 3, 6]
    for row in evaluated:
        assert row["eval/acc"] == row["eval/test/avg@4"] == pytest.approx(row["eval/test/pass@1"])
        assert row["eval/length"] == row["eval/test/length"]
        assert row["eval/test/pass@1"] <= row["eval/test/pass@2"] <= row["eval/test/pass@4"]
    assert evaluated[-1] != evaluated[0]


def test_held_out_prompts_as_a_set_train_the_same_policy_as_without_sets(tmp_path: Path) -> None:
    plain = small(task__ref="reverse")
    sets = ({"ref": "held-out", "prompts": 16},)
    evaluation = plain.evaluation.model_dump() | {"sets": sets}
    with_set = TrainConfig.model_validate(plain.model_dump() | {"evaluation": evaluation})
    train(plain, tmp_path / "plain")
    train(with_set, tmp_path / "set")
    assert same_weights(tmp_path / "plain", tmp_path / "set")
    assert plain.digest() != with_set.digest()


def test_a_killed_run_with_sets_is_the_run(
    tmp_path: Path, trained: str, test_set: dict[str, Any]
) -> None:
    config = config_of(trained, test_set, {"ref": "held-out", "prompts": 4, "temperature": 0})
    train(config, tmp_path / "whole")
    assert_same_run(in_stretches(config, tmp_path / "parts", 3, 5), tmp_path / "whole")


def test_what_is_evaluated_on_is_part_of_the_run(
    tmp_path: Path, trained: str, test_set: dict[str, Any]
) -> None:
    """A set that is added, or whose rows have changed since, is not gone on with."""
    folder = tmp_path / "run"
    train(config_of(trained, test_set), folder)
    known = read_config(folder)
    assert known.evaluation.sets[0].digest
    more = config_of(trained, test_set, {"ref": "sort", "prompts": 8}, steps=8)
    with pytest.raises(Refusal, match="was trained with another value") as refused:
        train(more, folder, resume_from=folder)
    assert refused.value.field == "evaluation.sets"
    longer = known.with_values({"steps": 8})
    train(longer, folder, resume_from=folder)
    written(tmp_path, ROWS[2::3], "test.jsonl")
    with pytest.raises(BadTask, match="not what was registered"):
        train(known.with_values({"steps": 9}), folder, resume_from=folder)


def test_an_evaluation_measures_what_training_measured(
    tmp_path: Path, trained: str, test_set: dict[str, Any]
) -> None:
    config = config_of(trained, {"ref": "sort", "prompts": 8}, test_set)
    train(config, tmp_path / "run")
    last = rows(tmp_path / "run")[-1]
    found = evaluate(config, tmp_path / "run")
    assert [each.name for each in found.sets] == ["sort", "test"]
    for each in found.sets:
        for name, share in each.shares.items():
            assert share.value == last[name]
            assert 0 <= share.low <= share.value <= share.high <= 1
    assert (found.accuracy, found.n) == (last["eval/acc"], 8)
    second = found.sets[1]
    assert (second.prompts, second.answers, second.n, second.unjudged) == (12, 48, 12, 0)
    assert second.digest == read_config(tmp_path / "run").evaluation.sets[1].digest
    greedy = evaluate(config, tmp_path / "run", greedy=True)
    assert [(each.k, each.answers) for each in greedy.sets] == [(1, 8), (1, 12)]


def test_the_drift_from_the_reference_is_of_first_answers_whatever_k_is(
    tmp_path: Path, trained: str, test_set: dict[str, Any]
) -> None:
    """Four answers a prompt cost no more passes over the reference than one does."""
    for k in (1, 4):
        train(config_of(trained, {**test_set, "k": k}), tmp_path / str(k))
    one, four = ([row.get("policy/kl_ref") for row in rows(tmp_path / k)] for k in ("1", "4"))
    assert [v is None for v in one] == [v is None for v in four]
    assert [v for v in one if v is not None] == pytest.approx(
        [v for v in four if v is not None], abs=1e-5
    )
    train(config_of(trained, {**test_set, "k": 1, "temperature": 0}), tmp_path / "greedy")
    assert not any("policy/kl_ref" in row for row in rows(tmp_path / "greedy"))


def test_a_set_that_is_never_judged_or_never_right_is_told(tmp_path: Path, trained: str) -> None:
    code = tmp_path / "judge.py"
    code.write_text("def none(prompts, completions, **c):\n    return [None] * len(prompts)\n")
    asked = [{"prompt": row["prompt"]} for row in ROWS[1::3]]
    sets = (
        {"ref": str(written(tmp_path, ROWS[1::3], "test.jsonl")), "prompts": 8},
        {
            "ref": str(written(tmp_path, asked, "open.jsonl")),
            "reward": f"{code}:none",
            "prompts": 4,
        },
        {"ref": str(written(tmp_path, [{**ROWS[1], "answer": "zz"}], "zz.jsonl")), "k": 2},
    )
    train(config_of(trained, *sets), tmp_path / "run")
    told = {
        row["detail"]["alarm"]: row["detail"]["cause"]
        for row in read_rows(tmp_path / "run" / EVENTS)
        if row["kind"] == "alarm"
    }
    assert "answer of set open" in told["nothing-scored"]
    assert "eval/zz/avg@2 counts answers that equal" in told["accuracy-at-floor"]
    document = json.dumps(told)
    assert "NaN" not in document
