"""What `start --dry-run` shows is what a start registers."""

from pathlib import Path

import pytest
from support.commands import text_of
from support.own_tasks import written
from support.plans import OWN_ROWS, TOPIC, plan_for

from autoresearch.cli import approval
from autoresearch.planner.planning import plan_study
from autoresearch.planner.preview import preview, settings, varied
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Plan
from swarm.config.parts import EvalSet


def shown(plan: Plan, width: int = 200) -> str:
    return " ".join(text_of(approval.render(plan, (), None), width).split())


def test_arms_by_what_they_alone_set_and_the_rest_folded() -> None:
    plan = plan_for(TOPIC)
    text = shown(plan)
    assert f"asked “{TOPIC}”" in text
    assert "advantage_std-group_std: algorithm.scale group_std" in text
    assert "advantage_std-none: algorithm.scale none" in text
    assert f"alike in every arm: {len(settings(plan)) - 1} settings" in text
    assert varied(plan) == ("algorithm.scale",)
    assert text.count(" scale ") == 0


def test_presets_that_agree_in_a_setting_do_not_differ_in_it() -> None:
    found = varied(plan_for("GRPO vs RLOO, kl 0.01"))
    assert "algorithm.name" in found
    assert "algorithm.kl_coef" not in found


def test_own_data_and_sets_have_sizes_and_hashes(tmp_path: Path) -> None:
    rows = str(written(tmp_path, OWN_ROWS))
    other = [{"prompt": f"R:{a}z>", "answer": f"z{a}"} for a in "ijklmnop"]
    tested = EvalSet(ref=str(written(tmp_path, other, "test.jsonl")), k=2)
    plan = plan_for(TOPIC, task=rows, evaluation=(tested,))
    (data,), (each,) = preview(plan)["data"], preview(plan)["evaluation"]
    assert data["rows"] == len(OWN_ROWS)
    text = shown(plan, 400)
    assert f"{len(OWN_ROWS)} rows, sha256 {data['sha256'][:12]}" in text
    assert f"test: 8 prompts of {tested.ref}, 2 answers each" in text
    assert f"sha256 {each['digest'][:12]}" in text


def test_what_was_left_aside_stands_alone() -> None:
    drafted = plan_study(StartOptions(topic=f"{TOPIC} with purple prose"))
    text = " ".join(text_of(approval.render(drafted.plan, (), drafted.intent), 120).split())
    assert text.count("not used: purple, prose") == 1


@pytest.mark.parametrize("topic", [TOPIC, "kl 0, 0.01 and 0.1, 4 seeds, 20 steps"])
def test_the_digest_is_the_one_that_is_registered(tmp_path: Path, topic: str) -> None:
    plan = plan_for(topic)
    ledger = Ledger.open(Home(tmp_path))
    with ledger.hold("s"):
        ledger.create_study("s", topic, {})
        assert ledger.register("s", plan_for(topic)) == preview(plan)["registration"]
    assert preview(plan)["registration"] in shown(plan)
