"""Evidence that was touched decides nothing."""

import math
from dataclasses import replace
from pathlib import Path

from support.synthetic_study import Shape, compute, make_study

from autoresearch.analysis.evidence import EVALUATOR_CHANGED, Evidence, damage
from autoresearch.study.home import Home
from swarm.disk.folder import METRICS, read_series


def test_changed_evidence_makes_verdicts_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    trial = facts.of_phase("confirm")[2]
    assert trial.folder is not None
    metrics = trial.folder / METRICS
    metrics.write_text(metrics.read_text().replace('"eval/acc": 0.', '"eval/acc": 1.', 1))
    verdict = compute(facts).verdicts[0]
    assert verdict.verdict == "invalid"
    assert f"{trial.spec.id}/1" in verdict.reason
    assert "metrics.jsonl record 1" in verdict.reason


def test_a_sealed_run_must_be_the_one_that_the_ledger_knows(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    trial = facts.of_phase("confirm")[0]
    other = replace(trial.attempts[-1], manifest="0" * 64)
    assert damage(trial) == []
    problems = damage(replace(trial, attempts=(other,)))
    assert problems == [f"run {trial.spec.id}/1: manifest.json: not the one that the ledger knows"]


def test_another_plan_than_the_registered_one_is_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    assert facts.plan is not None
    moved = facts.plan.model_copy(update={"notes": ("changed afterwards",)})
    verdict = compute(replace(facts, plan=moved)).verdicts[0]
    assert verdict.verdict == "invalid"


def test_another_evaluator_than_at_the_freeze_is_invalid(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path))
    changed = {**facts.records, EVALUATOR_CHANGED: {"was": "a", "now": "b"}}
    verdict = compute(replace(facts, records=changed)).verdicts[0]
    assert verdict.verdict == "invalid"
    assert "judges answers changed" in verdict.reason


def test_points_are_finite_and_in_step_order(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path))
    evidence, trial = Evidence(facts), facts.of_phase("confirm")[0]
    assert trial.folder is not None
    name = "completions/mean_length_wrong"
    logged = read_series(trial.folder, name)
    kept = evidence.points(trial, name)
    assert 0 < len(kept) < len(logged)
    assert kept == [point for point in logged if math.isfinite(point[2])]
