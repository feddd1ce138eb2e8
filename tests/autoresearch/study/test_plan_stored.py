"""A plan that was stored before a setting existed asks for the trials that it asked for then."""

import json
from typing import Any

import pytest

from autoresearch.study.plan import Arm, Factor, Plan
from autoresearch.study.trial import TrialSpec
from swarm.config.base import canonical_digest
from swarm.config.train import TrainConfig
from tests.support.plans import small_plan

KL_COEF = Factor(
    name="kl_coef",
    role="treatment",
    levels=(0.01, 0.0),
    control=0.01,
    sets=("algorithm.kl_coef",),
)


def plan_of(base: dict[str, Any], factor: Factor) -> Plan:
    arms = tuple(
        Arm(id=name, levels={factor.name: level})
        for name, level in zip("ab", factor.levels, strict=True)
    )
    return small_plan(train=TrainConfig().with_values(base), factors=(factor,), arms=arms)


def choice(path: str, *levels: str, **values: dict[str, Any]) -> Factor:
    return Factor(
        name="f", role="treatment", levels=levels, control=levels[0], sets=(path,), values=values
    )


def as_stored_before(plan: Plan) -> str:
    """The plan's text as the version before `algorithm.returns` wrote it."""
    raw = plan.model_dump(mode="json")
    raw.pop("reading", None)
    raw["train"]["algorithm"].pop("returns", None)
    return json.dumps(raw)


def returns(plan: Plan) -> list[str]:
    return [plan.train_config(arm, "reverse", 0, {}).algorithm.returns for arm in "ab"]


REINFORCE_PP = {"algorithm.name": "reinforce_pp"}
BATCH = {"algorithm.baseline": "batch", "algorithm.kl_coef": 0.1}
WITHOUT_KL = {"algorithm.name": "reinforce_pp", "algorithm.kl_coef": 0.0}
CHANGED = [
    (REINFORCE_PP, KL_COEF, ["token", "episode"], ["token", "token"]),
    (
        BATCH,
        choice("algorithm.kl_placement", "loss", "reward"),
        ["episode", "token"],
        ["episode", "episode"],
    ),
    (
        {},
        choice("algorithm.name", "grpo", "reinforce_pp", reinforce_pp=WITHOUT_KL),
        ["episode", "episode"],
        ["episode", "token"],
    ),
]


@pytest.mark.parametrize(("base", "factor", "before", "now"), CHANGED)
def test_it_means_what_it_meant(
    base: dict, factor: Factor, before: list[str], now: list[str]
) -> None:
    made = plan_of(base, factor)
    text = as_stored_before(made)
    stored = Plan.read_back(text)
    assert (returns(made), returns(stored)) == (now, before)
    assert stored.digest() == canonical_digest(json.loads(text))
    assert made.digest() != stored.digest()
    for plan in (made, stored):
        assert Plan.read_back(plan.model_dump_json()) == plan


def test_its_trials_keep_their_ids() -> None:
    stored = Plan.read_back(as_stored_before(plan_of(REINFORCE_PP, KL_COEF)))
    config = stored.train_config("b", "reverse", 0, {})
    spec = TrialSpec(
        study="s",
        phase="confirm",
        round=1,
        arm="b",
        task="reverse",
        seed=0,
        config=config,
        registration="r",
    )
    raw = config.model_dump(mode="json")
    assert "returns" not in raw["algorithm"]  # the text that the older version hashed
    assert spec.id == canonical_digest(["r", "confirm", 1, "b", "reverse", 0, raw])[:16]


@pytest.mark.parametrize("base", [{}, {"algorithm.name": "grpo"}, {"algorithm.name": "rloo"}])
def test_a_plan_that_means_the_same_either_way_says_nothing_of_it(base: dict) -> None:
    made = plan_of(base, KL_COEF)
    assert "reading" not in made.model_dump(mode="json")
    assert Plan.read_back(as_stored_before(made)).digest() == made.digest()


def test_bounds_that_a_stored_plan_left_to_every_kind_stay() -> None:
    base = {
        "algorithm.correction.kind": "tis",
        "algorithm.correction.high": 3.0,
        "algorithm.anchor": "batch_start",
    }
    made = plan_of(base, choice("algorithm.correction.kind", "tis", "icepop"))
    stored = Plan.read_back(as_stored_before(made))
    bounds = [
        plan.train_config("b", "reverse", 0, {}).algorithm.correction.bounds
        for plan in (made, stored)
    ]
    assert bounds == [(0.5, 5.0), (0.5, 3.0)]


def test_returns_that_a_plan_names_are_kept() -> None:
    made = plan_of({"algorithm.baseline": "batch", "algorithm.returns": "token"}, KL_COEF)
    assert returns(Plan.read_back(made.model_dump_json())) == ["token", "token"]


def test_a_plan_that_a_user_writes_is_read_as_of_now() -> None:
    """Edited from one that said nothing of it, or from the text of an older version."""
    made = plan_of(REINFORCE_PP, KL_COEF)
    for raw in (json.loads(as_stored_before(made)), {**made.model_dump(), "reading": 0}):
        assert returns(Plan.model_validate(raw)) == ["token", "token"]
