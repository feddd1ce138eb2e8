"""Parts of a config: what they derive, and what they refuse on their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.config.parts import (
    LARGEST_RANK,
    BatchSettings,
    EvalSettings,
    OptimSettings,
    PolicySettings,
    SamplingSettings,
    TaskSettings,
    WarmupSettings,
)


@given(st.integers(1, 32), st.integers(1, 8), st.integers(1, 4), st.integers(1, 4))
def test_a_batch_is_whole_groups_in_whole_minibatches(
    prompts: int, group_size: int, epochs: int, minibatches: int
) -> None:
    settings = {"rollouts": prompts * group_size, "group_size": group_size}
    if prompts % minibatches:
        with pytest.raises(ValidationError, match=f"{prompts} prompts do not split into"):
            BatchSettings(**settings, minibatches=minibatches)
        return
    batch = BatchSettings(**settings, epochs=epochs, minibatches=minibatches)
    assert (batch.prompts, batch.updates) == (prompts, epochs * minibatches)


def test_rollouts_are_a_multiple_of_the_group() -> None:
    with pytest.raises(ValidationError, match="rollouts 100 is not a multiple of group_size 8"):
        BatchSettings(rollouts=100)


def test_a_rank_that_vllm_cannot_serve_is_refused() -> None:
    assert PolicySettings(rank=LARGEST_RANK).rank == LARGEST_RANK
    with pytest.raises(ValidationError, match="513 is above 512, the largest rank"):
        PolicySettings(rank=513)


def test_the_users_code_brings_its_reward_unless_one_is_named() -> None:
    assert TaskSettings(ref="mine.py:make").reward == "own"
    assert TaskSettings(ref="mine.py:make", reward="exact").reward == "exact"
    assert TaskSettings(ref="data.jsonl").reward == "exact"
    assert TaskSettings().reward == "exact"


@pytest.mark.parametrize("digest", ["", "0" * 64, "ab" * 32])
def test_a_digest_is_64_hex_digits_or_none(digest: str) -> None:
    assert TaskSettings(digest=digest).digest == digest
    with pytest.raises(ValidationError, match="digest"):
        TaskSettings(digest=digest + "g")


@pytest.mark.parametrize(
    ("part", "values"),
    [
        (OptimSettings, {"lr": 0.0}),
        (OptimSettings, {"beta2": 1.0}),
        (OptimSettings, {"schedule": "step"}),
        (SamplingSettings, {"temperature": 0.0}),
        (SamplingSettings, {"max_tokens": 0}),
        (SamplingSettings, {"top_p": 0.9}),
        (PolicySettings, {"alpha": -1.0}),
        (SamplingSettings, {"max_tokens": 10**8}),
        (BatchSettings, {"rollouts": 8 * 10**8}),
        (BatchSettings, {"epochs": 10**4}),
        (WarmupSettings, {"rows": 10**8}),
        (WarmupSettings, {"steps": 10**8}),
        (EvalSettings, {"prompts": 10**9}),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(part: type, values: dict) -> None:
    with pytest.raises(ValidationError, match=next(iter(values))):
        part(**values)
