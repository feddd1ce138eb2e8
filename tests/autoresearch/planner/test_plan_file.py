"""`--dry-run --out FILE`, an edit, `start --plan FILE`: what is registered is exactly the file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.contexts import holding_study
from support.plans import plan_for

from autoresearch.cli import app
from autoresearch.planner.plan_file import read_plan, write_plan
from autoresearch.run.stages import freeze
from autoresearch.run.study import new_study
from autoresearch.study.home import Home
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def command(*words: str, code: int = 0) -> Any:
        monkeypatch.setattr(sys, "argv", ["autoresearch", *words, "--json"])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert ended.value.code == code
        return json.loads(capsys.readouterr().out)

    return command


def test_a_plan_comes_back_as_it_was_written(tmp_path: Path) -> None:
    for topic in ("best lora rank for RL", "GRPO vs RLOO vs REINFORCE++", "length bias of GRPO"):
        plan = plan_for(topic)
        write_plan(tmp_path / "plan.yaml", plan)
        assert read_plan(tmp_path / "plan.yaml") == plan
        assert read_plan(tmp_path / "plan.yaml").digest() == plan.digest()


def test_what_was_edited_is_registered(run: Any, tmp_path: Path) -> None:
    run("start", "best lora rank for RL", "--profile", "smoke", "--dry-run", "--out", "plan.yaml")
    file = tmp_path / "plan.yaml"
    file.write_text(
        file.read_text()
        .replace("  steps: ", "  steps: 1")
        .replace("min_effect: 0.05", "min_effect: 0.07")
    )
    shown = run("start", "--plan", "plan.yaml", "--dry-run")
    assert shown["hypotheses"][0]["min_effect"] == 0.07
    plan = read_plan(file)
    home = Home(tmp_path)
    study = new_study(home, plan, StartOptions(topic=plan.topic, plan=str(file)))
    with holding_study(home, study) as context:
        freeze(context)
        facts = context.facts()
    assert facts.plan == plan
    assert facts.registration == plan.digest()
    assert facts.records["start"]["command"] == f"autoresearch start --plan {file}"
    assert "full" not in facts.records


def test_the_dry_run_of_a_file_is_that_of_its_topic(run: Any) -> None:
    topic = "does dividing by the group std matter in GRPO?"
    asked = run("start", topic, "--dry-run", "--out", "plan.yaml")
    assert run("start", "--plan", "plan.yaml", "--dry-run") == asked
    assert asked["settings"]["optim.lr"] == 1e-3
    assert asked["settings"]["task.ref"] == "reverse"
    assert asked["varied"] == ["algorithm.scale"]


def test_what_set_fixes_is_shown(run: Any) -> None:
    shown = run("start", "best lora rank for RL", "--set", "optim.lr=1e-4", "--dry-run")
    assert shown["set"] == {"optim.lr": 1e-4}
    assert shown["settings"]["optim.lr"] == 1e-4


@pytest.mark.parametrize(
    "more", [["a topic"], ["--seed", "3"], ["--set", "optim.lr=1"], ["--profile", "full"]]
)
def test_a_whole_plan_takes_nothing_beside_it(run: Any, more: list[str]) -> None:
    run("start", "best lora rank for RL", "--dry-run", "--out", "plan.yaml")
    error = run("start", "--plan", "plan.yaml", *more, "--dry-run", code=2)["error"]
    assert error["field"] == "plan"
    assert "is a whole plan" in error["problem"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("steps: [", "is not YAML"),
        ("steps: 3", "topic: Field required"),
        ("", "Input should be"),
        (None, "No such file"),
    ],
)
def test_a_file_that_holds_no_plan_is_refused(
    tmp_path: Path, text: str | None, problem: str
) -> None:
    file = tmp_path / "plan.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Refusal, match=problem):
        read_plan(file)


def test_an_edited_plan_is_linted_as_any_other(tmp_path: Path) -> None:
    plan = plan_for("best lora rank for RL")
    other = tuple(h.model_copy(update={"metric": "eval/x"}) for h in plan.hypotheses)
    write_plan(tmp_path / "plan.yaml", plan.model_copy(update={"hypotheses": other}))
    with pytest.raises(Refusal, match=r"PB102.*eval/x"):
        read_plan(tmp_path / "plan.yaml")
    with pytest.raises(Refusal, match="there is no folder"):
        write_plan(tmp_path / "no" / "plan.yaml", plan)


def test_an_arm_needs_a_level_of_each_factor(tmp_path: Path) -> None:
    plan = plan_for("best lora rank for RL")
    arms = (plan.arms[0].model_copy(update={"levels": {}}), *plan.arms[1:])
    write_plan(tmp_path / "plan.yaml", plan.model_copy(update={"arms": arms}))
    with pytest.raises(Refusal, match=r"^plan: .* has no level of lora_rank; correct it"):
        read_plan(tmp_path / "plan.yaml")


def test_out_goes_with_dry_run(run: Any) -> None:
    assert run("start", "x", "--out", "plan.yaml", code=2)["error"]["field"] == "out"


def test_what_is_tuned_is_a_setting(tmp_path: Path) -> None:
    plan = plan_for("best lora rank for RL")
    assert plan.tuning is not None
    tuning = plan.tuning.model_copy(update={"path": "optim.lrr"})
    write_plan(tmp_path / "plan.yaml", plan.model_copy(update={"tuning": tuning}))
    with pytest.raises(Refusal, match="PB106"):
        read_plan(tmp_path / "plan.yaml")
