"""What an evaluation of a set comes to."""

import math
from dataclasses import replace
from itertools import combinations

import pytest
from support.scored_groups import episode, group

from swarm.train.metric_table import LOGGED, counts_right, names_of_set, passes, set_of
from swarm.train.metrics import of_evaluation
from swarm.train.set_figures import of_set, pass_at


@pytest.mark.parametrize("n", [1, 4, 6])
def test_pass_at_is_the_share_of_choices_with_a_right_answer(n: int) -> None:
    for right in range(n + 1):
        answers = [True] * right + [False] * (n - right)
        for j in range(1, n + 1):
            chosen = [any(choice) for choice in combinations(answers, j)]
            assert pass_at(j, n, right) == pytest.approx(sum(chosen) / len(chosen))


def test_powers_of_two_and_k_are_reported() -> None:
    assert [passes(k) for k in (1, 2, 6, 8)] == [(1,), (1, 2), (1, 2, 4, 6), (1, 2, 4, 8)]
    assert names_of_set("b", 2) == (
        "eval/b/avg@2",
        "eval/b/pass@1",
        "eval/b/pass@2",
        "eval/b/length",
    )


def test_means_are_over_prompts() -> None:
    """One prompt has two judged answers of four, another four of four, a third none."""
    unjudged = replace(episode([3], None), correct=None)
    groups = [
        group([2], episode([3, 4], 1.0), unjudged, episode([3], 0.0), unjudged),
        group([2], *(episode([3], float(i == 0)) for i in range(4))),
        group([2], *[unjudged] * 4),
    ]
    found = of_set("b", groups, 4)
    assert found["eval/b/avg@4"] == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert found["eval/b/pass@1"] == found["eval/b/avg@4"]
    assert found["eval/b/pass@2"] == pytest.approx((1 + 1 / 2) / 2)
    assert found["eval/b/pass@4"] == 1.0
    assert found["eval/b/length"] == pytest.approx(13 / 12)
    assert of_evaluation(groups)["eval/acc"] == found["eval/b/avg@4"]


def test_what_was_not_judged_is_not_a_number() -> None:
    found = of_set("b", [group([2], replace(episode([3], None), correct=None))], 1)
    assert math.isnan(found["eval/b/avg@1"])
    assert math.isnan(found["eval/b/pass@1"])


def test_metrics_of_sets_are_known_by_their_form() -> None:
    assert (LOGGED["eval/my-set/pass@8"].unit, LOGGED["eval/my-set/length"].unit) == (
        "share",
        "tokens",
    )
    assert set_of("eval/my-set/avg@8") == "my-set"
    assert set_of("eval/acc") is None
    assert [m for m in ("eval/acc", "eval/b/pass@2", "eval/b/length") if counts_right(m)] == [
        "eval/acc",
        "eval/b/pass@2",
    ]
    for wrong in ("eval/b/pass@0", "eval/b/pass@02", "eval/b/best@2", "eval/B/avg@2", "eval/b"):
        assert wrong not in LOGGED
