"""The parts of the many-policies benchmark that need no model."""

import pytest

from benchmarks.harness import Sample
from benchmarks.multi_lora import BASE, FULL, MAIN, MIXED, ONE_BY_ONE, keys
from benchmarks.multi_lora_worker import CASES, compared, largest_difference, requests
from swarm.records import Completion, StopReason


def drawn(tokens: tuple[int, ...], logprobs: tuple[float, ...]) -> Completion:
    return Completion(tokens, logprobs, StopReason.LENGTH)


def test_each_policy_asks_for_its_rows_with_seeds_of_their_own() -> None:
    asked = requests(CASES[MAIN], [[1], [2, 3], [4]])
    slots = [{request.slot for request in policy} for policy in asked]
    assert [len(policy) for policy in asked] == [1] * 8
    assert all(len(slot) == 1 for slot in slots)
    assert len(set.union(*slots)) == 8
    assert len({seed for policy in asked for request in policy for seed in request.seeds}) == 32


def test_rows_are_groups_on_prompts_of_their_own() -> None:
    for case in CASES.values():
        asked = [
            request for policy in requests(case, [[n] for n in range(128)]) for request in policy
        ]
        assert {len(request.seeds) for request in asked} == {case.members}
        assert (
            len({request.prompt for request in asked}) * case.members == len(case.ranks) * case.rows
        )


def test_policies_of_two_ranks_never_share_a_slot() -> None:
    ranks: dict[str | None, set[int | None]] = {}
    for case in CASES.values():
        for slot, rank in zip(case.slots, case.ranks, strict=True):
            ranks.setdefault(slot, set()).add(rank)
    assert all(len(found) == 1 for found in ranks.values())


def test_rows_are_compared_up_to_their_first_differing_draw() -> None:
    left = [drawn((1, 2, 3), (-1.0, -2.0, -3.0)), drawn((5,), (-1.0,))]
    right = [drawn((1, 9, 3), (-1.5, -9.0, -9.0)), drawn((5,), (-1.25,))]
    assert largest_difference(left, right) == pytest.approx(0.5)
    assert compared(left, right) == 0.5


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
