"""Topics as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.topic.words import canonical, find, number, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Group-Size=16", ["group", "size", "16"]),
        ("REINFORCE++ vs. Dr.GRPO", ["reinforce++", "vs", "dr", "grpo"]),
        ("lr 1e-3", ["lr", "1e-3"]),
        ("β=0.04", ["beta", "0.04"]),
        ("clip_high × updates/batch", ["clip", "high", "x", "update", ",", "batch"]),
        ("0/50", ["0", ",", "50"]),
        ("a 7B model", ["a", "7b", "model"]),
        ("", []),
        ("???", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("british", "american"),
    [("normalisation", "normalization"), ("regularised", "regularizing"), ("epochs", "epoch")],
)
def test_spellings_and_plurals_agree(british: str, american: str) -> None:
    assert canonical(british) == canonical(american)


@pytest.mark.parametrize(
    ("word", "value"),
    [("16", 16), ("1e-3", 0.001), (".2", 0.2), ("10^-4", 1e-4), ("2k", 2000), ("7b", None)],
)
def test_number(word: str, value: float | None) -> None:
    assert number(word) == value


@given(st.text(max_size=80))
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=3))
def test_find_names_a_place_that_holds_the_needle(hay: list[str], needle: list[str]) -> None:
    place = find(needle, hay)
    if place is not None:
        assert hay[place : place + len(needle)] == needle
    elif needle:
        assert "".join(needle) not in "".join(hay)
