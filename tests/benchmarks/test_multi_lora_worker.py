"""What the worker asks and compares."""

import pytest

from benchmarks.multi_lora import MAIN
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
