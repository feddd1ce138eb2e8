"""The two-level search against the plain cumulative sum, and its ends."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm.engine.draw import draw


@settings(max_examples=60)
@given(
    vocabulary=st.sampled_from([1, 7, 256, 257, 1000, 4096]),
    temperature=st.floats(0.3, 3.0),
    seed=st.integers(0, 10_000),
)
def test_the_token_is_where_the_cumulative_law_passes_the_uniform(
    vocabulary: int, temperature: float, seed: int
) -> None:
    rng = torch.Generator().manual_seed(seed)
    logits_BV = 3 * torch.randn(16, vocabulary, generator=rng)
    uniforms_B = torch.rand(16, generator=rng, dtype=torch.float64)
    tokens_B, logprobs_B = draw(logits_BV, torch.full((16,), temperature), uniforms_B)
    law_BV = torch.log_softmax(logits_BV.double() / temperature, -1)
    after_B = law_BV.exp().cumsum(-1).gather(1, tokens_B[:, None])[:, 0]
    before_B = after_B - law_BV.exp().gather(1, tokens_B[:, None])[:, 0]
    # Block sums are fp32: the edges of a token's interval move by less than this.
    assert (before_B - 1e-6 <= uniforms_B).all()
    assert (uniforms_B <= after_B + 1e-6).all()
    truth_B = law_BV.gather(1, tokens_B[:, None])[:, 0]
    np.testing.assert_allclose(logprobs_B, truth_B, atol=2e-6)


@pytest.mark.parametrize("uniform", [0.0, 0.5, float(np.nextafter(1.0, 0.0))])
def test_a_token_without_probability_is_never_drawn(uniform: float) -> None:
    """At the ends of the law, in a whole block, and beside the one possible token."""
    logits_BV = torch.full((1, 1000), -torch.inf)
    logits_BV[0, [300, 511, 700]] = torch.tensor([0.0, 1.0, 2.0])
    uniforms_B = torch.tensor([uniform], dtype=torch.float64)
    tokens_B, logprobs_B = draw(logits_BV, torch.ones(1), uniforms_B)
    assert tokens_B.item() in (300, 511, 700)
    assert logprobs_B.isfinite().all()
