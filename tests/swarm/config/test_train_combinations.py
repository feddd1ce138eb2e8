"""Combinations that cannot be run are refused before anything starts, naming the field."""

import pytest
from pydantic import ValidationError

from swarm.config.train import TrainConfig

ONE = {"batch.group_size": 1}
TIS = {"algorithm.correction.kind": "tis"}
BATCH_START = {"algorithm.anchor": "batch_start"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        # a loss that is anchored on the sampler holds the ratio already
        (TIS, "algorithm.correction.kind 'tis' .* set algorithm.anchor 'batch_start'"),
        ({"algorithm.correction.kind": "icepop"}, "algorithm.correction.kind 'icepop'"),
        ({"algorithm.correction.kind": "decoupled"}, "algorithm.correction.kind 'decoupled'"),
        ({"algorithm.name": "dppo", **BATCH_START}, "algorithm.correction.kind 'dppo'"),
        # bounds
        ({"algorithm.correction.high": 2.0}, "algorithm.correction.low and high need"),
        (
            {**TIS, **BATCH_START, "algorithm.correction.high": 0.5},
            "algorithm.correction.low 0.0 and high 0.5 must enclose 1",
        ),
        (
            {"algorithm.correction.kind": "token_mask", "algorithm.correction.low": 1.5},
            "algorithm.correction.low 1.5 and high 2.0 must enclose 1",
        ),
        (
            {"algorithm.name": "dppo", "algorithm.correction.high": 2.0},
            "algorithm.correction.low 0.2 and high 2.0 bound a probability",
        ),
        (
            {"algorithm.name": "cispo", "algorithm.clip_low": None, "algorithm.clip_high": None},
            "algorithm.objective 'truncated' .* algorithm.clip_low",
        ),
        # advantages
        (
            {"algorithm.name": "ppo", "algorithm.scale": "group_std"},
            "algorithm.scale 'group_std' .* baseline 'value'",
        ),
        (
            {"algorithm.name": "maxrl", "algorithm.baseline": "none"},
            "algorithm.scale 'group_mean' .* set algorithm.baseline 'group'",
        ),
        (
            {
                "algorithm.name": "maxrl",
                "algorithm.kl_coef": 0.1,
                "algorithm.kl_placement": "reward",
            },
            "algorithm.scale 'group_mean' .* no KL in the reward",
        ),
        # returns
        (
            {"algorithm.name": "ppo", "algorithm.returns": "episode"},
            "algorithm.returns 'episode' .*baseline 'value'.* set algorithm.returns 'token'",
        ),
        ({"algorithm.returns": "token"}, "algorithm.returns 'token' .*baseline 'group'"),
        (
            {"algorithm.name": "reinforce_pp", "algorithm.scale": "group_std"},
            "algorithm.scale 'group_std' .* algorithm.returns 'token'",
        ),
        ({"algorithm.name": "sft", "algorithm.returns": "token"}, "algorithm.returns has no place"),
        # groups of one
        ({**ONE, "algorithm.name": "maxrl"}, "algorithm.scale 'group_mean' needs batch.group_size"),
        ({**ONE, "algorithm.name": "dpo"}, "algorithm.objective 'preference' needs batch.group"),
        (
            {**ONE, "algorithm.name": "sft", "data.group_filter": "resample"},
            "data.group_filter 'resample' needs batch.group_size",
        ),
        ({**ONE, "algorithm.name": "grpo"}, "algorithm.baseline 'group' .* algorithm.scale"),
        (
            {"algorithm.name": "dpo", "data.group_filter": "none"},
            "data.group_filter 'none' keeps groups of equal rewards",
        ),
        # staleness
        ({"max_staleness": 1, "algorithm.name": "rloo"}, "max_staleness above 0 needs a bounded"),
        (
            {"max_staleness": 1, **BATCH_START},
            "max_staleness above 0 with algorithm.anchor 'batch_start' .* algorithm.correction",
        ),
        (
            {"max_staleness": 1, "algorithm.name": "gspo"},
            "max_staleness .* set algorithm.correction",
        ),
        ({"max_staleness": 1, "algorithm.name": "sft"}, "max_staleness above 0 needs rollouts"),
        # what an objective would leave out in silence
        ({"algorithm.name": "sft", "algorithm.kl_coef": 0.1}, "algorithm.kl_coef has no place"),
        ({"algorithm.name": "sft", "algorithm.baseline": "group"}, "algorithm.baseline has no"),
        ({"algorithm.name": "dpo", "algorithm.entropy_coef": 0.1}, "algorithm.entropy_coef has no"),
        ({"algorithm.name": "dpo", "algorithm.ratio": "sequence"}, "algorithm.ratio has no place"),
        (
            {"algorithm.name": "dpo", "algorithm.correction.kind": "token_mask"},
            "algorithm.correction.kind has no place in algorithm.objective 'preference'",
        ),
        (
            {"algorithm.name": "sft", "data.group_filter": "mixed_rewards"},
            "data.group_filter 'mixed_rewards' needs rollouts",
        ),
    ],
)
def test_an_impossible_combination(values: dict, named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        TrainConfig().with_values(values)


@pytest.mark.parametrize(
    "values",
    [
        {"max_staleness": 4},
        {"max_staleness": 4, **TIS, **BATCH_START},
        {"max_staleness": 4, "algorithm.correction.kind": "sequence_mask", **BATCH_START},
        {"max_staleness": 4, "algorithm.name": "dppo"},
        {"max_staleness": 4, "algorithm.name": "cispo"},
        {
            "max_staleness": 4,
            "algorithm.name": "gspo",
            "algorithm.correction.kind": "token_mask",
        },
        {"algorithm.name": "reinforce_pp", "algorithm.baseline": "group"},
        {"algorithm.baseline": "value"},
        {"max_staleness": 64, "algorithm.name": "dpo"},
        {"algorithm.correction.kind": "token_mask"},
        {**ONE, "algorithm.name": "ppo"},
        {**ONE, "algorithm.name": "reinforce_pp"},
        {**ONE, "algorithm.name": "sft"},
        {"algorithm.name": "sft", "algorithm.entropy_coef": 0.01},
    ],
)
def test_a_possible_combination(values: dict) -> None:
    TrainConfig().with_values(values)


@pytest.mark.parametrize("field", ["low", "high"])
def test_bounds_are_positive(field: str) -> None:
    with pytest.raises(ValidationError, match=f"algorithm.correction.{field}"):
        TrainConfig().with_values({f"algorithm.correction.{field}": -1.0})
