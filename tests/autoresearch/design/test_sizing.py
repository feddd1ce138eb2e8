"""How the pilot's spread becomes a number of seeds."""

import pytest
from support.synthetic_study import Shape, make_plan

from autoresearch.design.power import power
from autoresearch.design.sizing import Underpowered, sensitivity, size
from autoresearch.study.plan import Plan
from autoresearch.study.rules import Decision


def full_plan(**changes: object) -> Plan:
    plan = make_plan(Shape(profile="full"))
    rules = {"looks": (5, 10, 15), **changes}
    return plan.model_copy(update={"decision": Decision(**rules)})  # type: ignore[arg-type]


def test_quick_keeps_its_looks_and_says_what_they_detect():
    plan = make_plan(Shape())
    record = size(plan, 0.02)
    assert (record["n"], record["looks"]) == (5, [5])
    assert record["sd"] == pytest.approx(0.02)
    assert power(record["detectable"], 0.02, 5, alpha=0.05) == pytest.approx(0.8, abs=1e-3)


def test_full_takes_the_fewest_looks_with_power():
    # One look at 5 seeds finds 0.03 with power 0.99 at this spread.
    assert size(full_plan(), 0.01)["looks"] == [5]
    assert size(full_plan(), 0.02)["looks"] == [5, 10]


def test_full_is_refused_without_power():
    with pytest.raises(Underpowered, match="15 seeds an arm"):
        size(full_plan(), 0.2)


def test_full_goes_on_when_registered_as_exploratory():
    assert size(full_plan(exploratory=True), 0.2)["looks"] == [5, 10, 15]


def test_paired_does_not_assume_that_seeds_correlate():
    welch = size(full_plan(), 0.01)
    paired = size(full_plan(test="paired"), 0.01)
    assert len(paired["looks"]) >= len(welch["looks"])


@pytest.mark.parametrize("sd", [None, 0.0])
def test_an_unknown_spread_is_said_to_be_unknown(sd: float | None):
    record = size(make_plan(Shape()), sd)
    assert (record["n"], record["sd"], record["detectable"]) == (5, sd, None)


def test_before_the_pilot_a_guessed_spread_says_what_a_plan_can_detect():
    plan = full_plan(looks=(5, 10))
    able = sensitivity(plan, 0.03, prior_sd=0.02)
    assert able.detectable == size(full_plan(looks=(5, 10), exploratory=True), 0.02)["detectable"]
    assert sensitivity(plan, able.detectable, 0.02).power == pytest.approx(0.8, abs=1e-3)
    assert sensitivity(plan, 0.03, prior_sd=0.04).power < able.power
