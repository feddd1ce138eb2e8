"""What a config is does not depend on the order in which its values were set."""

import random
from collections.abc import Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.algorithms import NAMES
from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig

BASELINES = ("none", "group", "leave_one_out", "batch", "value")
CHOICES: dict[str, tuple[JsonValue, ...]] = {
    "algorithm.baseline": BASELINES,
    "algorithm.returns": ("episode", "token"),
    "algorithm.scale": ("none", "group_std", "batch_std"),
    "algorithm.kl_coef": (0.0, 0.02),
    "algorithm.kl_placement": ("loss", "reward"),
    "algorithm.anchor": ("sampler", "batch_start"),
    "algorithm.correction.kind": ("none", "tis", "token_mask", "sequence_mask", "dppo"),
    "algorithm.correction.low": (0.2, 0.9),
    "algorithm.correction.high": (0.2, 3.0),
    "algorithm.clip_high": (0.3,),
}
#: What is set one by one: bounds go with their kind of correction, and returns with a baseline.
ONE_BY_ONE = tuple(
    path for path in CHOICES if "correction" not in path and path != "algorithm.returns"
)
NAMED = st.sampled_from(NAMES)
RANDOM = st.randoms(use_true_random=False)
Pairs = list[tuple[str, JsonValue]]


@st.composite
def assignments(draw: st.DrawFn, paths: tuple[str, ...]) -> Pairs:
    chosen = draw(st.lists(st.sampled_from(paths), unique=True, min_size=2, max_size=5))
    return [(path, draw(st.sampled_from(CHOICES[path]))) for path in chosen]


def resolved(start: TrainConfig, steps: Sequence[dict[str, JsonValue]]) -> TrainConfig | None:
    """None where one of the steps is refused."""
    try:
        for step in steps:
            start = start.with_values(step)
    except ValidationError:
        return None
    return start


def preset(name: str) -> TrainConfig:
    return TrainConfig().with_values({"algorithm.name": name})


@given(NAMED, assignments(tuple(CHOICES)), RANDOM)
def test_together(name: str, pairs: Pairs, order: random.Random) -> None:
    other = order.sample(pairs, len(pairs))
    assert resolved(preset(name), [dict(pairs)]) == resolved(preset(name), [dict(other)])
    named: dict[str, JsonValue] = {"algorithm.name": name}
    first, last = named | dict(other), dict(pairs) | named
    assert resolved(TrainConfig(), [first]) == resolved(TrainConfig(), [last])


@given(NAMED, assignments(ONE_BY_ONE), RANDOM)
def test_one_by_one(name: str, pairs: Pairs, order: random.Random) -> None:
    other = order.sample(pairs, len(pairs))
    together = resolved(preset(name), [dict(pairs)])
    for each in (pairs, other):
        found = resolved(preset(name), [{path: value} for path, value in each])
        assert found is None or found == together


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_leaves_no_trace(name: str) -> None:
    path = "algorithm.baseline"
    for between in BASELINES:
        for last in BASELINES:
            by_way = resolved(preset(name), [{path: between}, {path: last}])
            assert by_way is None or by_way == resolved(preset(name), [{path: last}])


#: One value of each kind, away from some preset's.
SET: dict[str, JsonValue] = {
    "algorithm.baseline": "batch",
    "algorithm.scale": "none",
    "algorithm.kl_coef": 0.0,
    "algorithm.kl_placement": "reward",
    "algorithm.correction.kind": "none",
    "algorithm.clip_high": 0.3,
}


@pytest.mark.parametrize("name", ["default", "dppo", "reinforce_pp", "ppo"])
@pytest.mark.parametrize("baseline", ["group", "batch"])
def test_every_order_of_every_three(name: str, baseline: str) -> None:
    """Whichever come before: all orders that no step of which is refused give one config."""
    pairs = list((SET | {"algorithm.baseline": baseline}).items())
    for three in combinations(pairs, 3):
        orders = [[dict([pair]) for pair in order] for order in permutations(three)]
        found = [config for order in orders if (config := resolved(preset(name), order))]
        together = resolved(preset(name), [dict(three)])
        assert all(config == together for config in found), three
