"""Problems of plans, whoever wrote them."""

from typing import Any

import pytest
from support.plans import plan_for

from autoresearch.planner.lint import problems, require_clean, review
from autoresearch.study.plan import Plan
from swarm.errors import Refusal


def with_train(drafted: Plan, **values: Any) -> Plan:
    paths = {key.replace("__", "."): value for key, value in values.items()}
    return drafted.model_copy(update={"train": drafted.train.with_values(paths)})


def with_factor(drafted: Plan, **update: Any) -> Plan:
    first, *rest = drafted.factors
    return drafted.model_copy(update={"factors": (first.model_copy(update=update), *rest)})


def with_hypotheses(drafted: Plan, **update: Any) -> Plan:
    changed = tuple(h.model_copy(update=update) for h in drafted.hypotheses)
    return drafted.model_copy(update={"hypotheses": changed})


STD, CLIP, KL, LORA = "group std", "does the clip range matter?", "k2 or k3", "LoRA or full weights"


def test_a_drafted_plan_is_clean() -> None:
    for topic in (STD, CLIP, KL, LORA):
        assert problems(plan_for(topic)) == []


CASES = {
    "PB101": with_factor(plan_for(STD), name="advantage_sdt"),
    "PB102": with_hypotheses(plan_for(STD), metric="eval/accuracy"),
    "PB103": plan_for(STD).model_copy(update={"tasks": ("sortt",)}),
    "PB104": with_train(plan_for(STD), task__reward="proxy"),
    "PB201": plan_for(STD).model_copy(update={"factors": plan_for(STD).factors[1:]}),
    "PB202": with_factor(plan_for(STD), control="batch_std"),
    "PB203": with_hypotheses(plan_for(STD), arm="advantage_std-none", versus="advantage_std-none"),
    "PB205": plan_for(STD).model_copy(
        update={"decision": plan_for(STD).decision.model_copy(update={"looks": (5, 10)})}
    ),
    "PB206": with_factor(
        plan_for(STD), sets=("algorithm.scale", "optim.lr"), levels=(1.0, 2.0), control=1.0
    ),
    "PB207": with_hypotheses(plan_for(STD), metric="policy/entropy"),
    "PB301": plan_for(STD).model_copy(update={"estimated_seconds": 1e9}),
    "PB302": with_train(plan_for(STD), steps=10),
    "PB401": with_train(plan_for(CLIP), batch__epochs=1),
    "PB402": with_train(
        plan_for("does dynamic sampling help?"),
        batch__group_size=1,
        algorithm__baseline="none",
        algorithm__scale="none",
    ),
    "PB403": with_train(plan_for(KL), algorithm__kl_coef=0.0),
    "PB404": with_factor(
        plan_for(LORA), values={k: {"policy.kind": k, "optim.lr": 1e-3} for k in ("lora", "full")}
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "broken"), CASES.items(), ids=CASES)
def test_a_defect_is_found_under_its_code(code: str, broken: Plan) -> None:
    assert code in {problem.code for problem in review(broken)}
    with pytest.raises(Refusal, match=code):
        require_clean(broken)


def test_rewards_of_different_arms_are_no_common_scale() -> None:
    shaped = with_hypotheses(plan_for("partial credit"), metric="reward/mean")
    assert [p.code for p in review(shaped)] == ["PB408"]


def test_a_warning_does_not_stop_a_plan() -> None:
    warned = plan_for("does temperature affect entropy?")
    assert {p.code for p in review(warned)} == {"PB409"}
    require_clean(warned)
