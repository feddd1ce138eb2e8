"""Names laid over the words of a topic."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.catalogue import FACTORS
from autoresearch.catalogue.factor import phrases
from autoresearch.topic.aliases import find_mentions, vocabulary
from autoresearch.topic.words import words


def named(topic: str) -> list[tuple[str, str]]:
    """(words of the topic, what they name) of each mention."""
    text = words(topic)
    return [
        (" ".join(text[m.start : m.end]), m.alias.factor or m.alias.metric)
        for m in find_mentions(text)
    ]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("does the group size matter?", [("group size", "group_size")]),
        ("learning rate and batch size", [("learning rate", "learning_rate"),
                                          ("batch size", "batch_size")]),
        ("weight decay and policy entropy", [("weight decay", "weight_decay"),
                                             ("policy entropy", "policy/entropy")]),
        ("pizza in Rome", []),
    ],
)  # fmt: skip
def test_names_are_found_in_their_order(topic: str, expected: list[tuple[str, str]]) -> None:
    assert named(topic) == expected


def test_a_symbol_needs_a_number_behind_it() -> None:
    assert [name for _, name in named("G=2 or G=16")] == ["group_size", "group_size"]
    assert named("the vitamin G question") == []


def test_every_name_of_a_factor_is_found_alone() -> None:
    for factor in FACTORS.values():
        for alias in phrases(factor.aliases):
            assert factor.name in {name for _, name in named(alias)}, alias


@given(st.lists(st.sampled_from(sorted(vocabulary())), max_size=12))
def test_mentions_never_overlap(text: list[str]) -> None:
    found = find_mentions(text)
    for earlier, later in pairwise(found):
        assert earlier.end <= later.start
    for mention in found:
        assert tuple(text[mention.start : mention.end]) == mention.alias.words
