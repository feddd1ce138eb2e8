"""How the pilot's spread becomes a number of seeds."""

import pytest
from synthetic_study import CONTROL, Shape, make_plan

from autoresearch.design.power import power
from autoresearch.planner.sizing import Underpowered, size
from autoresearch.study.plan import Decision, Plan, TrialScore


def pilot(*values: float | None) -> list[TrialScore]:
    return [
        TrialScore(
            trial=str(seed),
            metric="eval/acc",
            phase="pilot",
            arm=CONTROL,
            task="reverse",
            seed=seed,
            status="failed" if value is None else "finished",
            value=value,
        )
        for seed, value in enumerate(values)
    ]


def full_plan(**changes: object) -> Plan:
    plan = make_plan(Shape(profile="full"))
    rules = {"looks": (5, 10, 15), **changes}
    return plan.model_copy(update={"decision": Decision(**rules)})  # type: ignore[arg-type]


def test_quick_keeps_its_looks_and_says_what_they_detect():
    plan = make_plan(Shape())
    record = size(plan, pilot(0.50, 0.52, 0.54))
    assert (record["n"], record["looks"]) == (5, [5])
    assert record["sd"] == pytest.approx(0.02)
    assert power(record["detectable"], 0.02, 5, alpha=0.05) == pytest.approx(0.8, abs=1e-3)


def test_full_takes_the_fewest_looks_with_power():
    # One look at 5 seeds finds 0.03 with power 0.99 at this spread.
    assert size(full_plan(), pilot(0.50, 0.51, 0.52))["looks"] == [5]
    assert size(full_plan(), pilot(0.50, 0.52, 0.54))["looks"] == [5, 10]


def test_full_is_refused_without_power():
    with pytest.raises(Underpowered, match="15 seeds an arm"):
        size(full_plan(), pilot(0.3, 0.5, 0.7))


def test_full_goes_on_when_registered_as_exploratory():
    assert size(full_plan(exploratory=True), pilot(0.3, 0.5, 0.7))["looks"] == [5, 10, 15]


def test_paired_does_not_assume_that_seeds_correlate():
    welch = size(full_plan(), pilot(0.50, 0.51, 0.52))
    paired = size(full_plan(test="paired"), pilot(0.50, 0.51, 0.52))
    assert len(paired["looks"]) >= len(welch["looks"])


@pytest.mark.parametrize("scores", [(), (0.5,), (0.5, None), (0.5, 0.5)])
def test_an_unknown_spread_is_said_to_be_unknown(scores: tuple[float | None, ...]):
    record = size(make_plan(Shape()), pilot(*scores))
    assert (record["n"], record["sd"], record["detectable"]) == (5, None, None)
