"""A plan determines its trials; what does not hold together is refused."""

import pytest
from pydantic import ValidationError
from support.plans import hypothesis, small_plan

from autoresearch.study.plan import REPLICATE_STRIDE, Arm, Factor, Plan, Seeds, Tuning
from swarm.config.base import canonical_digest

SCALE = Factor(
    name="std",
    role="treatment",
    levels=("a", "b"),
    control="a",
    values={
        "a": {"algorithm.scale": "group_std"},
        "b": {"algorithm.scale": "none", "optim.lr": 2e-3},
    },
)


class TestFactor:
    def test_a_level_is_a_value_or_stands_for_several(self) -> None:
        plain = Factor(name="lr", role="treatment", levels=(1e-3, 1e-2), sets=("optim.lr",))
        assert plain.assign(1e-2) == {"optim.lr": 1e-2}
        assert SCALE.assign("b") == {"algorithm.scale": "none", "optim.lr": 2e-3}
        assert SCALE.paths == {"algorithm.scale", "optim.lr"}
        assert not SCALE.is_replicate

    def test_copies_of_one_configuration_set_nothing(self) -> None:
        copies = Factor(name="replicate", role="treatment", levels=("a", "b"))
        assert copies.is_replicate
        assert copies.paths == frozenset()


class TestTrainConfig:
    PLAN = small_plan(
        factors=(SCALE,),
        tasks=("reverse", "chain"),
        task_settings={"chain": {"sampling.max_tokens": 24}},
    )

    def test_arm_task_seed_and_nuisance_all_enter(self) -> None:
        config = self.PLAN.train_config("a", "chain", 7, {"optim.lr": 5e-4})
        assert (config.seed, config.task.ref, config.sampling.max_tokens) == (7, "chain", 24)
        assert (config.algorithm.scale, config.optim.lr) == ("group_std", 5e-4)

    def test_what_an_arm_sets_wins_over_the_tuned_value(self) -> None:
        assert self.PLAN.train_config("b", "sort", 7, {"optim.lr": 5e-4}).optim.lr == 2e-3

    def test_arms_share_seeds_and_copies_do_not(self) -> None:
        assert self.PLAN.train_config("b", "sort", 7, {}).seed == 7
        copies = small_plan(factors=(Factor(name="std", role="treatment", levels=("a", "b")),))
        found = [copies.train_config(arm, "reverse", 7, {}) for arm in ("a", "b")]
        assert [config.seed for config in found] == [7, 7 + REPLICATE_STRIDE]
        assert found[1].with_values({"seed": 7}) == found[0]

    def test_an_unknown_arm_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            self.PLAN.train_config("c", "sort", 7, {})


class TestRefusals:
    def test_a_hypothesis_on_an_arm_that_is_not_there(self) -> None:
        with pytest.raises(ValidationError, match="H1 names the unknown arm 'c'"):
            small_plan(hypotheses=(hypothesis(versus="c"),))

    @pytest.mark.parametrize(("low", "high"), [(1.0, 0.1), (0.1, 0.1), (0.0, 0.1)])
    def test_a_tuning_range_that_is_none(self, low: float, high: float) -> None:
        with pytest.raises(ValidationError, match=f"tuning range {low} to {high} is not usable"):
            Tuning(factor="learning_rate", path="optim.lr", low=low, high=high, candidates=3)

    def test_two_hypotheses_of_one_name(self) -> None:
        with pytest.raises(ValidationError, match="H1 is there twice"):
            small_plan(hypotheses=(hypothesis(), hypothesis()))

    def test_two_arms_that_are_one(self) -> None:
        first, second = small_plan().arms[:2]
        same = second.model_copy(update={"levels": first.levels})
        with pytest.raises(ValidationError, match="two arms have the same levels"):
            small_plan(arms=(first, same))

    def test_a_seed_that_serves_two_phases(self) -> None:
        with pytest.raises(ValidationError, match="overlap"):
            Seeds(pilot=(1,), tuning=(2,), confirm=(1,))

    def test_a_plan_that_compares_nothing(self) -> None:
        with pytest.raises(ValidationError, match="arms"):
            small_plan(arms=(Arm(id="a", levels={"std": "a"}),))


class TestDigest:
    def test_json_keeps_it(self) -> None:
        plan = small_plan()
        assert Plan.model_validate_json(plan.model_dump_json()).digest() == plan.digest()

    def test_every_change_moves_it(self) -> None:
        plans = [small_plan(), small_plan(notes=("x",)), small_plan(estimated_seconds=61)]
        assert len({plan.digest() for plan in plans}) == len(plans)


def test_a_plan_that_was_stored_before_a_setting_existed_keeps_its_digest() -> None:
    plan = small_plan()
    raw = plan.model_dump(mode="json")
    raw["train"]["algorithm"].pop("returns", None)
    assert Plan.model_validate(raw).digest() == plan.digest() == canonical_digest(raw)
