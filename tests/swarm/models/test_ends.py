"""What is cut off an answer: its end and padding, and no other special token."""

from swarm.models.ends import Ends
from swarm.models.tokenizer import build_tokenizer


def test_only_ends_and_padding_are_stripped() -> None:
    tokenizer = build_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>"]})
    think, eos, pad = (tokenizer.convert_tokens_to_ids(t) for t in ("<think>", "<eos>", "<pad>"))
    dot = tokenizer.convert_tokens_to_ids(".")
    letters = tokenizer.encode("ab", add_special_tokens=False)
    ends = Ends(frozenset({eos, dot}), eos, pad)
    said = [[think, *letters, eos, pad], [*letters, dot], [], [*letters, think]]
    assert ends.answers(tokenizer, said) == ["<think>ab", "ab", "", "ab<think>"]
