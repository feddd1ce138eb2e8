"""Ids of claims."""

from pathlib import Path

from support.synthetic_study import CONTROL, Shape, compute, make_study

from autoresearch.analysis import claim_ids
from autoresearch.study.home import Home


def test_ids_are_those_that_reports_have_always_had() -> None:
    assert claim_ids.under("trial", "bf80", "causes") == "trial.bf80.causes"
    assert claim_ids.under("H1", "n.arm") == "H1.n.arm"
    assert claim_ids.arm("mean", "eval/acc", "a") == "arm.eval/acc.a.mean"
    assert claim_ids.arm("sd", "eval/acc", "a", "reverse") == "task.eval/acc.a.reverse.sd"
    assert claim_ids.under("score", "eval/acc", "a", "reverse", 7) == "score.eval/acc.a.reverse.7"
    assert claim_ids.under("final", "reward/mean", "a") == "final.reward/mean.a"
    assert claim_ids.curve("eval/acc", "a", 20) == "curve.eval/acc.a.20"


def test_what_the_ids_of_a_kind_name_leads_back_to_them() -> None:
    ids = ["note.0", "notes", "fingerprint.evaluator.a/b.c", "note.10", "note"]
    assert claim_ids.named("note", ids) == ["0", "10"]
    assert claim_ids.named("fingerprint", ids) == ["evaluator.a/b.c"]
    assert claim_ids.under("fingerprint", "evaluator.a/b.c") == ids[2]
    assert claim_ids.groups("fingerprint", ids) == ["evaluator"]
    assert claim_ids.groups("alarm", ["alarm.1.a", "alarm.0.a", "alarm.1.b"]) == ["1", "0"]


def test_a_study_of_several_tasks_has_claims_on_the_arm_and_on_each_task(tmp_path: Path) -> None:
    tasks = ("reverse", "sort")
    claims = compute(make_study(Home(tmp_path), Shape(tasks=tasks, failed=()))).by_id()
    for task in ("", *tasks):
        claim = claims[claim_ids.arm("mean", "eval/acc", CONTROL, task)]
        assert claim.query.args.get("task", "") == task
