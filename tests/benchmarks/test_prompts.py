"""The prompts of the generation benchmark."""

from benchmarks.prompts import PROMPTS


def test_there_are_128_different_prompts() -> None:
    assert len(set(PROMPTS)) == len(PROMPTS) == 128
