"""How prompts of unequal length are prefilled together."""

from hypothesis import given
from hypothesis import strategies as st

from swarm.engine import prefill
from swarm.engine.prefill import buckets


class TestBuckets:
    @given(st.lists(st.integers(1, 3000), max_size=40))
    def test_little_padding_and_every_prompt_once(self, lengths: list[int]) -> None:
        parts = buckets(lengths)
        assert sorted(i for part in parts for i in part) == list(range(len(lengths)))
        for part in parts:
            widths = [lengths[i] for i in part]
            assert max(widths) <= prefill.PADDING * min(widths) + prefill.SLACK
            assert len(part) == 1 or max(widths) * len(part) <= prefill.PREFILL_TOKENS
