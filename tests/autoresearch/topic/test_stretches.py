"""Readers share a text: what one takes is blank to the next, in its place."""

from hypothesis import given
from hypothesis import strategies as st

from autoresearch.topic.stretches import Text, phrase


def test_what_is_taken_is_blank_and_keeps_its_place() -> None:
    text = Text("rank 8 on GSM8K now")
    (match,) = text.take(phrase("gsm8k"))
    assert (match[0], text.left) == ("GSM8K", "rank 8 on       now")
    assert text.before(match) == "rank 8 on "
    assert list(text.take(phrase("gsm8k"))) == []


def test_a_phrase_ends_where_words_end() -> None:
    assert phrase("7b").search("a 7B model")
    assert not phrase("7b").search("17b")
    assert not phrase("1").search("1.5")


@given(st.text(alphabet="ab 1.,", max_size=30))
def test_the_text_keeps_its_length(said: str) -> None:
    text = Text(said)
    taken = list(text.take(phrase(r"a+|\d")))
    assert len(text.left) == len(said)
    assert all(text.left[m.start() : m.end()].isspace() for m in taken)
