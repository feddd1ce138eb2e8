"""The parts of the many-policies benchmark that need no model."""

import pytest

from benchmarks.harness import Sample
from benchmarks.multi_lora import BASE, FULL, MAIN, MIXED, ONE_BY_ONE, keys


def test_a_single_policy_runs_one_way() -> None:
    assert {plan.case: plan.ways for plan in FULL}["1 policy"] == (MIXED,)


def test_the_ratio_is_one_after_another_over_mixed() -> None:
    def step(variant: str, case: str, round_: int, wall_s: float) -> Sample:
        return Sample(variant, case, round_, 0, wall_s, 1.0, 1.0, 1.0)

    samples = [
        step(variant, case, r, wall_s)
        for r in range(3)
        for variant, case, wall_s in ((MIXED, MAIN, 2.0), (ONE_BY_ONE, MAIN, 8.0), (MIXED, BASE, 1))
    ]
    found = keys(samples)
    assert found["ratio"] == pytest.approx(4)
    assert found["routing_overhead"] == pytest.approx(2)
