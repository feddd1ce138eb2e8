"""Evaluation sets of a question."""

import json
from itertools import product
from pathlib import Path

import pytest
from support.plans import plan_for

from swarm.config.parts import EvalSet
from swarm.errors import Refusal

ROWS = [{"prompt": f"R:{a}{b}>", "answer": b + a} for a, b in product("abcdefgh", repeat=2)]


def rows_in(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_topic_may_name_what_it_trains_and_is_tested_on(tmp_path: Path) -> None:
    trained = rows_in(tmp_path / "a.jsonl", ROWS[:40])
    tested = rows_in(tmp_path / "b.jsonl", ROWS[40:])
    plan = plan_for(f"lr 1e-4 vs 1e-3 trained on {trained}, tested on {tested}, pass@4")
    (found,) = plan.train.evaluation.sets
    assert (found.ref, found.k, found.prompts, len(found.digest)) == (tested, 4, 24, 64)
    assert plan.hypotheses[0].metric == "eval/b/pass@4"


def test_overlap_is_found_when_a_study_is_planned(tmp_path: Path) -> None:
    trained = rows_in(tmp_path / "a.jsonl", ROWS[:40])
    tested = EvalSet(ref=rows_in(tmp_path / "b.jsonl", ROWS[30:]))
    with pytest.raises(Refusal, match="10 of its 34 prompts are trained on"):
        plan_for("lr 1e-4 vs 1e-3", task=trained, evaluation=(tested,))


def test_held_out_prompts_may_be_answered_several_times() -> None:
    plan = plan_for("lr 1e-4 vs 1e-3, pass@8")
    assert [(s.ref, s.k) for s in plan.train.evaluation.sets] == [("held-out", 8)]
    assert plan.hypotheses[0].metric == "eval/held-out/pass@8"
