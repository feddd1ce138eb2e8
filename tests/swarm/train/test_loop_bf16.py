"""A run on a bf16 base: how far sampler and learner part, as its metrics say."""

from pathlib import Path

import pytest
from support.tiny_runs import rows, small

from swarm.train.loop import train


@pytest.mark.parametrize(
    ("dtype", "mean", "largest"), [("float32", 1e-5, 1e-4), ("bfloat16", 0.02, 0.2)]
)
def test_sampler_and_learner_part_by_rounding_alone(
    dtype: str, mean: float, largest: float, tmp_path: Path
) -> None:
    """A bf16 base rounds what a token sees to 8 bits, in batches of other shapes."""
    train(small(model__dtype=dtype, steps=2), tmp_path)
    seen = [row for row in rows(tmp_path) if "mismatch/kl" in row]
    assert seen
    for row in seen:
        assert 0 < row["mismatch/logprob_abs_diff_mean"] < mean
        assert row["mismatch/logprob_abs_diff_mean"] <= row["mismatch/logprob_abs_diff_max"]
        assert row["mismatch/logprob_abs_diff_max"] < largest
