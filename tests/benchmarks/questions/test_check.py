"""The checker blames what is wrong in a plan, says whether the plan says it, and blames no more."""

import json
from typing import Any

import pytest
from support.plans import hypothesis, small_plan

from autoresearch.planner.preview import preview
from autoresearch.study.plan import Arm, Factor, Plan, Seeds
from benchmarks.questions.check import Answer, Verdict, judge
from benchmarks.questions.entries import Entry
from swarm.config.train import TrainConfig

TOPIC = "is rank 4 better than 64 on sort? GRPO, lr 5e-4, Qwen2.5-1.5B, 3 seeds, 40 steps, alpha 32"
ENTRY = Entry.model_validate(
    {
        "topic": TOPIC,
        "answer": "either",
        "factors": {"lora_rank": [4, 64]},
        "held": {"optim.lr": 5e-4, "algorithm.name": "grpo"},
        "model": "Qwen2.5-1.5B",
        "task": "sort",
        "seeds": 3,
        "steps": 40,
        "better": 4,
        "names": ["Qwen2.5-1.5B"],
    }
)


def under_test(name: str, levels: tuple[Any, Any], path: str) -> dict[str, Any]:
    """One factor with two arms, `a` at the control and `b`."""
    factor = Factor(name=name, role="treatment", levels=levels, control=levels[1], sets=(path,))
    arms = (Arm(id="a", levels={name: levels[1]}), Arm(id="b", levels={name: levels[0]}))
    return {"factors": (factor,), "arms": arms}


def planned(**fields: Any) -> Plan:
    """The study that `TOPIC` asks for, with any field replaced."""
    model = fields.setdefault("model", "Qwen/Qwen2.5-1.5B")
    settings = {
        "model.ref": model,
        "algorithm.name": fields.pop("algorithm", "grpo"),
        "optim.lr": fields.pop("lr", 5e-4),
        "steps": fields.pop("steps", 40),
        "policy.alpha": fields.pop("alpha", 32.0),
    }
    usual = under_test("lora_rank", (4, 64), "policy.rank") | {
        "topic": TOPIC,
        "tasks": ("sort",),
        "seeds": Seeds(pilot=(1,), tuning=(2,), confirm=(3, 4, 5)),
        "train": TrainConfig().with_values(settings),
    }
    return small_plan(**usual | {"notes": ("policy.alpha 32 in every arm",)} | fields)


def verdict(**fields: Any) -> Verdict:
    document = preview(planned(**fields))
    return judge(ENTRY, Answer(plan=json.loads(json.dumps(document))))


def test_a_right_plan_is_not_blamed() -> None:
    assert verdict() == Verdict("right")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("dropped number", {"notes": ()}),
        ("dropped number", {"notes": ("policy.alpha 16 in every arm",)}),
        ("levels", under_test("lora_rank", (4, 16), "policy.rank")),
        ("levels", under_test("lora_rank", (8, 64), "policy.rank")),
        ("factor", under_test("group_size", (4, 64), "batch.group_size")),
        ("extra factor", under_test("group_size", (4, 64), "batch.group_size")),
        ("model", {"model": "tiny"}),
        ("task", {"tasks": ("reverse",)}),
        ("steps", {"steps": 60}),
        ("seeds", {"seeds": Seeds(pilot=(1,), tuning=(2,), confirm=(3, 4))}),
        ("held", {"lr": 1e-3}),
        ("held", {"algorithm": "rloo"}),
        ("direction", {"hypotheses": (hypothesis(direction="less"),)}),
    ],
)
def test_another_study_is_blamed_as_silent(kind: str, fields: dict[str, Any]) -> None:
    found = verdict(**fields)
    assert found.outcome == "silent"
    assert kind in {fault.kind for fault in found.faults}


def test_another_study_that_the_plan_tells_is_noted() -> None:
    notes = ("policy.alpha 32 in every arm", "tiny is taken: Qwen2.5-1.5B is not on this machine")
    assert verdict(model="tiny", notes=notes).outcome == "noted"
    assert verdict(model="tiny", notes=notes[:1]).outcome == "silent"
    assert verdict(model="tiny", notes=(*notes[:1], f"asked: {TOPIC}")).outcome == "silent"


def test_grpo_may_be_the_base_recipe_where_the_plan_says_so() -> None:
    notes = ("policy.alpha 32 in every arm", "GRPO stands for the base recipe here")
    assert verdict(algorithm="default", notes=notes).outcome == "right"
    assert verdict(algorithm="default", notes=notes[:1]).outcome == "silent"
    assert verdict(algorithm="rloo", notes=notes).outcome != "right"


def test_what_stands_in_every_plan_tells_nothing() -> None:
    trap = "DAPO draws more rollouts a batch than it trains on, and PPO and DPO take more passes: "
    trap += "read curves by tokens and wall-clock too."
    entry = Entry.model_validate(
        ENTRY.model_dump(by_alias=True) | {"topic": f"{TOPIC}, at equal wall-clock"}
    )
    noted = planned(notes=("policy.alpha 32 in every arm", trap))
    assert judge(entry, Answer(plan=preview(noted))).outcome == "silent"
    told = planned(notes=("policy.alpha 32 in every arm", "arms are not equal in wall-clock"))
    assert judge(entry, Answer(plan=preview(told))).outcome == "right"


def test_a_name_that_no_field_expects_is_looked_for_too() -> None:
    entry = Entry.model_validate(
        ENTRY.model_dump(by_alias=True) | {"topic": f"{TOPIC}, tested on AIME24"}
    )
    found = judge(entry, Answer(plan=preview(planned())))
    assert found.outcome == "silent"
    assert [(fault.kind, fault.detail) for fault in found.faults] == [("dropped name", "AIME24")]


def test_any_study_that_is_as_good_is_accepted() -> None:
    entry = Entry.model_validate(
        ENTRY.model_dump(by_alias=True)
        | {"factors": {"group_size": [4, 64]}, "or": [ENTRY.model_dump(include=set(STUDY))]}
    )
    assert judge(entry, Answer(plan=preview(planned()))).outcome == "right"


STUDY = ("factors", "held", "model", "task", "seeds", "steps", "better")


def test_a_refusal_names_what_is_not_understood() -> None:
    named = "model: Qwen2.5-1.5B is not on this machine; give --model"
    other = "topic: no factor of the catalogue fits it; write it in English"
    assert judge(ENTRY, Answer(refusal=named)).outcome == "right"
    assert judge(ENTRY, Answer(refusal=other)).outcome == "misnamed"
    assert judge(ENTRY, Answer(refusal=f"topic: nothing fits {TOPIC}")).outcome == "misnamed"


def test_a_refusal_where_a_plan_is_wanted_is_needless() -> None:
    entry = ENTRY.model_copy(update={"answer": "plan"})
    assert judge(entry, Answer(refusal="model: Qwen2.5-1.5B")).outcome == "needless"


def test_a_plan_where_a_refusal_is_wanted_is_silent_unless_it_says_so() -> None:
    entry = ENTRY.model_copy(update={"answer": "refuse", "names": ["Qwen2.5-1.5B"]})
    assert judge(entry, Answer(plan=preview(planned()))).outcome == "silent"
    told = preview(planned(notes=("nothing is known of Qwen2.5-1.5B",)))
    assert judge(entry, Answer(plan=told)).outcome == "noted"


def test_a_crash_is_never_right() -> None:
    assert judge(ENTRY, Answer(crash="KeyError: 'x'")).outcome == "crashed"
