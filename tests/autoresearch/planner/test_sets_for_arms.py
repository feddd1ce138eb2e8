"""Evaluation sets over the arms of a plan."""

import json
from pathlib import Path

import pytest
from support.plans import OWN_ROWS, plan_for

from autoresearch.cli.planview import evaluation_set
from autoresearch.design.cost import evaluation_share, trial_seconds
from autoresearch.planner.plan_file import read_plan, write_plan
from autoresearch.planner.sets_for import with_checked_sets
from autoresearch.study.metrics import METRICS
from autoresearch.study.plan import Plan
from swarm.config.parts import EvalSet
from swarm.errors import Refusal

ASK = "lr 1e-4 vs 1e-3"


def rows_in(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def train(tmp_path: Path) -> str:
    return rows_in(tmp_path / "train.jsonl", OWN_ROWS[:40])


@pytest.fixture
def test_set(tmp_path: Path) -> EvalSet:
    return EvalSet(ref=rows_in(tmp_path / "test.jsonl", OWN_ROWS[40:]), k=4)


def test_arms_that_train_on_other_rewards_are_judged_by_one(
    train: str, test_set: EvalSet, tmp_path: Path
) -> None:
    """An arm would else be judged by its own reward: one that is always 1 would be the best."""
    (tmp_path / "r.py").write_text(
        "def f(completions, **_):\n    return [1.0] * len(completions)\n"
    )
    levels = {"task.reward": ("exact", f"{tmp_path / 'r.py'}:f")}
    for sets in ((test_set,), None):
        plan = plan_for(
            "does the reward matter?",
            task=train,
            evaluation=sets,
            levels=levels,
            playbook="factor-sweep",
        )
        configs = [plan.train_config(arm.id, train, 0, {}) for arm in plan.arms]
        assert {c.task.reward for c in configs} == set(levels["task.reward"])
        assert {s.reward for c in configs for s in c.evaluation.sets} == {"exact"}
        assert any("every arm's answers are judged by exact" in note for note in plan.notes)
        assert [s.title for s in plan.train.evaluation.sets] == ["test" if sets else "held-out"]


def test_a_source_that_trains_in_some_arm_is_held_apart(train: str, test_set: EvalSet) -> None:
    sources = {
        "task.sources.a.ref": train,
        "task.sources.b.ref": test_set.ref,
        "task.sources.b.weight": 0,
    }
    asked = {
        "task": "mixture",
        "evaluation": (test_set,),
        "set": sources,
        "playbook": "factor-sweep",
    }
    plan = plan_for("lr 1e-4 vs 1e-3", **asked)
    assert plan.train.evaluation.sets[0].prompts == 24
    weighted = {**asked, "set": {k: v for k, v in sources.items() if not k.endswith("weight")}}
    with pytest.raises(Refusal, match="24 of its 24 prompts are trained on"):
        plan_for("does the weight matter?", **weighted, levels={"task.sources.b.weight": (0, 1)})


def test_prompts_that_the_model_cannot_be_asked_are_refused_when_a_study_is_planned(
    train: str, tmp_path: Path
) -> None:
    ref = rows_in(tmp_path / "test.jsonl", [{"prompt": "Ж?", "answer": "b"}])
    with pytest.raises(Refusal, match=r"cannot write 'Ж\?'") as refused:
        plan_for(ASK, task=train, evaluation=(EvalSet(ref=ref),))
    assert refused.value.field == "evaluation.sets.0"


def test_a_metric_of_no_set_or_of_another_k_is_refused_with_the_nearest(
    train: str, test_set: EvalSet
) -> None:
    plan = plan_for(ASK, task=train, evaluation=(test_set,))

    def asking(metric: str) -> Plan:
        tested = [h.model_copy(update={"metric": metric}) for h in plan.hypotheses]
        return plan.model_copy(update={"hypotheses": tuple(tested)})

    assert with_checked_sets(asking("eval/test/pass@2")).hypotheses[0].metric == "eval/test/pass@2"
    with pytest.raises(
        Refusal, match=r"answered 4 times a prompt, which gives avg@4 and pass@1, 2, 4"
    ):
        with_checked_sets(asking("eval/test/pass@8"))
    with pytest.raises(Refusal, match="does not have; did you mean test"):
        with_checked_sets(asking("eval/tset/avg@4"))


def test_metrics_of_sets_carry_stated_defaults() -> None:
    accuracy, solved, length = (METRICS[n] for n in ("eval/acc", "eval/b/pass@4", "eval/b/length"))
    assert (solved.better, solved.min_effect, solved.prior_sd) == (
        accuracy.better,
        accuracy.min_effect,
        accuracy.prior_sd,
    )
    assert (length.better, length.min_effect, length.prior_sd) == (None, 1.0, 0.8)
    assert "eval/b/most@4" not in METRICS


def test_a_budget_that_answers_exceed_says_what_evaluation_takes(
    train: str, test_set: EvalSet
) -> None:
    many = test_set.model_copy(update={"k": 1024})
    with pytest.raises(
        Refusal, match=r"evaluate with a smaller k or fewer prompts, which takes 8\d%"
    ):
        plan_for(ASK, task=train, evaluation=(many,), budget_seconds=300.0)
    config = plan_for(ASK, task=train, evaluation=(test_set,)).train
    assert 0 < evaluation_share(config) < 1 / 2
    alone = config.model_copy(
        update={"evaluation": config.evaluation.model_copy(update={"sets": (), "prompts": 96})}
    )
    assert trial_seconds(config) == trial_seconds(alone)  # 24 prompts, 4 answers each


def test_an_edited_plan_is_checked_and_shown(train: str, test_set: EvalSet, tmp_path: Path) -> None:
    plan = plan_for(ASK, task=train, evaluation=(test_set,))
    (filled,) = plan.train.evaluation.sets
    shown = evaluation_set(filled)
    assert shown.startswith(f"test: 24 prompts of {test_set.ref}, 4 answers each, at temperature 1")
    assert "judged by exact, sha256 " in shown
    file = tmp_path / "plan.yaml"
    write_plan(file, plan)
    assert read_plan(file) == plan
    rows_in(tmp_path / "test.jsonl", OWN_ROWS[39:])
    with pytest.raises(Refusal, match="not what was registered"):
        read_plan(file)
    file.write_text(file.read_text().replace(filled.digest, "''"))
    with pytest.raises(Refusal, match="1 of its 24 prompts are trained on"):
        read_plan(file)
