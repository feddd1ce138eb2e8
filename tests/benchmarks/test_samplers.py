"""How sampled tokens are counted."""

from benchmarks.samplers import sampled


def test_the_end_token_counts_and_padding_does_not() -> None:
    assert sampled([7, 8, 2, 2, 2], [2, 0]) == 3
    assert sampled([0, 2, 2], [2, 0]) == 1
    assert sampled([7, 8, 9], [2, 0]) == 3
